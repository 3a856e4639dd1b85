// Multiply-accumulates per second of the engines that simulate every cycle, on one thread: a dense GEMM of
// 256 x 256 x 256, E5M2 with FP32 sums; `arch_speed systemc 32` or `arch_speed rtl 16`.
#include <chrono>
#include <ctime>
#include <exception>
#include <iostream>
#include <string>

#include "sim/machine/accelerator.hpp"
#include "testbench/machine/machine_cases.hpp"

namespace mantissa::test {
namespace {

void measure(const std::string& engine, int side) {
  Architecture arch;
  arch.rows = arch.cols = side;
  const ArrayFormats formats;
  OwnedJob owned{.m = 256, .n = 256, .k = 256, .skip = false};
  std::mt19937 random(1);
  for (int i = 0; i < 256 * 256; ++i) {
    owned.a.push_back(static_cast<std::uint8_t>(random() % 124 + (random() % 2 << 7)));
    owned.b.push_back(static_cast<std::uint8_t>(random() % 124 + (random() % 2 << 7)));
  }
  Accelerator accelerator(arch, formats, {.engine = parse_engine(engine)});
  const ArrayJob job = owned.job(arch, formats);
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu_start = std::clock();
  const ArrayRun run = accelerator.run(job);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  std::cout << engine << ' ' << side << " x " << side << ": "
            << static_cast<double>(run.cycles.macs) / seconds.count() / 1e6 << " M MAC/s ("
            << static_cast<double>(run.cycles.macs) / cpu_seconds / 1e6 << " per CPU second), "
            << static_cast<double>(run.cycles.cycles()) / seconds.count() / 1e3 << " k cycles/s, "
            << run.cycles.cycles() << " cycles, " << run.cycles.compute << " compute\n";
}

}  // namespace
}  // namespace mantissa::test

int main(int argc, char* argv[]) {
  if (argc != 3) {
    std::cerr << "arch_speed systemc|rtl|lockstep SIDE\n";
    return 2;
  }
  try {
    mantissa::test::measure(argv[1], std::stoi(argv[2]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "arch_speed: " << error.what() << '\n';
    return 1;
  }
}
