// Multiply-accumulates per second of the engines that simulate every cycle, on one thread: a dense GEMM of
// 256 x 256 x 256, E5M2 with FP32 sums; `arch_speed systemc 32` or `arch_speed rtl 16`; `arch_speed blocks
// 32` for the second machine.
#include <chrono>
#include <ctime>
#include <exception>
#include <iostream>
#include <string>

#include "sim/machine/accelerator.hpp"
#include "sim/machine/block_accelerator.hpp"
#include "testbench/machine/block_cases.hpp"
#include "testbench/machine/machine_cases.hpp"

namespace mantissa::test {
namespace {

constexpr std::int64_t size = 256;

struct Operands {
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;
};

Operands random_operands() {
  Operands operands;
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < size * size; ++i) {
    operands.a.push_back(static_cast<std::uint8_t>(random() % 124 + (random() % 2 << 7)));
    operands.b.push_back(static_cast<std::uint8_t>(random() % 124 + (random() % 2 << 7)));
  }
  return operands;
}

template <class Run>
void measure(const std::string& what, int side, const Run& run_job) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  const ArrayRun run = run_job();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  std::cout << what << ' ' << side << " x " << side << ": "
            << static_cast<double>(run.cycles.macs) / seconds.count() / 1e6 << " M MAC/s ("
            << static_cast<double>(run.cycles.macs) / cpu_seconds / 1e6 << " per CPU second), "
            << static_cast<double>(run.cycles.cycles()) / seconds.count() / 1e3 << " k cycles/s, "
            << run.cycles.cycles() << " cycles, " << run.cycles.compute << " compute\n";
}

Architecture architecture(int side) {
  Architecture arch;
  arch.rows = arch.cols = side;
  return arch;
}

void measure_simple(const std::string& engine, int side) {
  const Architecture arch = architecture(side);
  const ArrayFormats formats;
  const Operands operands = random_operands();
  const OwnedJob owned{.m = size, .n = size, .k = size, .a = operands.a, .b = operands.b, .skip = false};
  Accelerator accelerator(arch, formats, {.engine = parse_engine(engine)});
  measure(engine, side, [&] { return accelerator.run(owned.job(arch, formats)); });
}

// A linear layer.
void measure_blocks(int side) {
  const Architecture arch = architecture(side);
  const ArrayFormats formats;
  const Operands operands = random_operands();
  OwnedPass owned;
  owned.first = operands.a;
  owned.second = operands.b;
  owned.skip = false;
  owned.shape.batch = owned.shape.in_channels = owned.shape.out_channels = size;
  owned.outputs = {0, size, 0, size};
  owned.mapping = {.m_block = 64, .n_block = 128, .k_block = size};
  BlockAccelerator accelerator(arch, formats);
  measure("blocks, systemc", side, [&] { return accelerator.run(owned.job(arch, formats)); });
}

}  // namespace
}  // namespace mantissa::test

int main(int argc, char* argv[]) {
  if (argc != 3) {
    std::cerr << "arch_speed systemc|rtl|lockstep|blocks SIDE\n";
    return 2;
  }
  try {
    const std::string engine = argv[1];
    if (engine == "blocks") {
      mantissa::test::measure_blocks(std::stoi(argv[2]));
    } else {
      mantissa::test::measure_simple(engine, std::stoi(argv[2]));
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "arch_speed: " << error.what() << '\n';
    return 1;
  }
}
