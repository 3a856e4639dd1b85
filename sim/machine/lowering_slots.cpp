#include "sim/machine/lowering_slots.hpp"

#include <array>

#include "sim/machine/rtl_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

constexpr int number_bits = 32;

constexpr std::array<UnitSlot::Watched, 5> watched() {
  return {{{LoweringPorts::count, "beat"},
           {LoweringPorts::last, "beat"},
           {LoweringPorts::read, "padding"},
           {LoweringPorts::line_out, "line"},
           {LoweringPorts::element_out, "element"}}};
}

}  // namespace

LoweringUnitSize lowering_unit_size(const Architecture& arch, int lanes) {
  return {.lanes = lanes,
          .window = arch.window,
          .port = arch.port,
          .line_bits = number_bits,
          .element_bits = number_bits,
          .length_bits = number_bits};
}

CompiledDevice compile_lowering_unit(const Architecture& arch, int lanes,
                                     const std::filesystem::path& rtl_directory, bool wave) {
  return compile_unit("lowering_unit", LoweringPorts(lowering_unit_size(arch, lanes)).parameters(),
                      rtl_directory, wave);
}

LoweringSlot::LoweringSlot(Engine engine, const LoweringUnitSize& size, std::unique_ptr<Device> device)
    : ports_(size),
      slot_(engine, "lowering_unit", std::move(device),
            make_lowering_unit(sc_core::sc_gen_unique_name("lowering_unit"), ports_.parameters())) {}

void LoweringSlot::set_up(const LoweringSetup& setup) {
  const std::vector<Bits> inputs = ports_.inputs(setup);
  for (int port = 0; port < LoweringPorts::input_count; ++port) slot_.write(port, inputs[port]);
}

std::optional<Mismatch> LoweringSlot::compare() const {
  static const std::array<UnitSlot::Watched, 5> outputs = watched();
  return slot_.compare(outputs);
}

LoweringDevices load_lowering(const Architecture& arch, Engine engine,
                              const std::filesystem::path& rtl_directory) {
  LoweringDevices devices;
  if (engine == Engine::systemc) return devices;
  const CachedFilePointer a = compile_lowering_unit(arch, arch.rows, rtl_directory).object;
  const CachedFilePointer b =
      arch.cols == arch.rows ? a : compile_lowering_unit(arch, arch.cols, rtl_directory).object;
  devices.a = std::make_unique<Device>(a);
  devices.b = std::make_unique<Device>(b);
  return devices;
}

LoweringSlots::LoweringSlots(const Architecture& arch, Engine engine, LoweringDevices devices)
    : a_(engine, lowering_unit_size(arch, arch.rows), std::move(devices.a)),
      b_(engine, lowering_unit_size(arch, arch.cols), std::move(devices.b)) {}

void LoweringSlots::clock(bool level) {
  a_.slot().clock(level);
  b_.slot().clock(level);
}
void LoweringSlots::reset(bool active) {
  a_.slot().reset(active);
  b_.slot().reset(active);
}
void LoweringSlots::offer(bool valid) {
  a_.slot().offer(valid);
  b_.slot().offer(valid);
}
void LoweringSlots::take(bool ready) {
  a_.slot().take(ready);
  b_.slot().take(ready);
}

std::optional<Mismatch> LoweringSlots::compare() {
  for (LoweringSlot* slot : {&a_, &b_}) {
    std::optional<Mismatch> mismatch = slot->compare();
    if (!mismatch) continue;
    different_ = slot;
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace mantissa
