// Range BN on the SystemC machine against the golden models and the closed form. SystemC elaborates once per
// process: each test makes all its machines first, and ctest gives each a process of its own.
#include "sim/arch/norm_machine.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "testbench/arch/norm_cases.hpp"

namespace mantissa::test {
namespace {

constexpr NormDirection directions[] = {NormDirection::forward, NormDirection::backward};

struct Sample {
  Architecture arch;
  NormCase norm;
  std::unique_ptr<NormMachine> machine;

  std::string text() const {
    return norm.text() + ", " + std::to_string(arch.norm_lanes) + " lanes, buffers " +
           std::to_string(arch.a_buffer_bytes) + "," + std::to_string(arch.b_buffer_bytes) + " DRAM " +
           std::to_string(arch.dram_latency_cycles) + "," + std::to_string(arch.dram_burst_bytes) + "," +
           std::to_string(arch.dram_burst_cycles);
  }
};

NormSize size_of(const NormShape& shape) { return {shape.channels, shape.batch * shape.spatial}; }

TEST(NormMachine, RandomMachinesAsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(61);
  std::vector<Sample> samples(300);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& sample = samples[i];
    sample.arch = random_norm_machine(engine, static_cast<int>(1 + engine() % 6));
    sample.norm = random_norm(engine, 14, i % 10 == 0 ? 200 : 30);
    sample.machine = std::make_unique<NormMachine>(sample.arch, size_of(sample.norm.shape));
  }
  for (const Sample& sample : samples) {
    const NormAnswer answer(sample.norm);
    for (const NormDirection direction : directions) {
      const NormJob job = answer.job(direction);
      ASSERT_EQ(difference(answer.expected(sample.arch, job), sample.machine->run(job)), "")
          << (direction == NormDirection::forward ? "forward " : "backward ") << sample.text();
    }
  }
}

}  // namespace
}  // namespace mantissa::test
