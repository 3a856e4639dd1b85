// Sums of costs and energies until the rooms that own them are linked.
#include "sim/arch/gemm_cycles.hpp"
#include "sim/energy/energy_table.hpp"

namespace mantissa {

GemmCycles& GemmCycles::operator+=(const GemmCycles& other) {
  compute += other.compute;
  stall_load += other.stall_load;
  stall_write_back += other.stall_write_back;
  stall_drain += other.stall_drain;
  dram_bytes += other.dram_bytes;
  dram_bytes_unique += other.dram_bytes_unique;
  sram_bytes += other.sram_bytes;
  a_taken += other.a_taken;
  b_staged += other.b_staged;
  drained += other.drained;
  macs += other.macs;
  skipped += other.skipped;
  tiles += other.tiles;
  steps += other.steps;
  return *this;
}

double Energy::total_pj() const {
  double sum = 0;
  for (const EnergyComponent& component : components) sum += component.pj;
  return sum;
}

double Energy::derived_pj() const {
  double sum = 0;
  for (const EnergyComponent& component : components) sum += component.derived_pj;
  return sum;
}

Energy& Energy::operator+=(const Energy& other) {
  std::map<std::string, EnergyComponent> merged;
  for (const Energy* energy : {static_cast<const Energy*>(this), &other}) {
    for (const EnergyComponent& component : energy->components) {
      EnergyComponent& sum = merged[component.name];
      sum.name = component.name;
      sum.pj += component.pj;
      sum.derived_pj += component.derived_pj;
    }
  }
  components.clear();
  for (auto& [name, component] : merged) components.push_back(component);
  return *this;
}

}  // namespace mantissa
