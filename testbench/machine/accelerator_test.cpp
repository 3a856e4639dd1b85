// The SystemC accelerator against the golden array and the closed form. SystemC elaborates once per process:
// each test makes all its machines first, and ctest gives each a process of its own.
#include "sim/machine/accelerator.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/machine/array_pool.hpp"
#include "testbench/machine/machine_cases.hpp"

namespace mantissa::test {
namespace {

struct Sample {
  Architecture arch;
  ArrayFormats formats;
  OwnedJob job;
  std::unique_ptr<Accelerator> accelerator;
};

std::string text_of(const ArrayFormats& formats) {
  if (formats.integers()) return formats.a.name() + " x " + formats.b.name();
  return formats.a.name() + " x " + formats.b.name() + " to " + formats.c.name() + " " +
         formats.c_rounding.name();
}

std::string text_of(const Sample& sample) {
  const Architecture& arch = sample.arch;
  return std::to_string(arch.rows) + "x" + std::to_string(arch.cols) + " window " +
         std::to_string(arch.window) + " depth " + std::to_string(arch.depth) + " port " +
         std::to_string(arch.port) + " latency " + std::to_string(arch.pipe_latency) +
         (arch.acc_double_buffer ? " two sets" : "") + " buffers " + std::to_string(arch.a_buffer_bytes) +
         "," + std::to_string(arch.b_buffer_bytes) + " DRAM " + std::to_string(arch.dram_latency_cycles) +
         "," + std::to_string(arch.dram_burst_bytes) + "," + std::to_string(arch.dram_burst_cycles.value()) +
         " " + text_of(sample.formats) + ": " + sample.job.text();
}

TEST(Accelerator, RandomMachinesAsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(41);
  std::vector<Sample> samples(240);
  constexpr std::pair<int, int> sizes[] = {{4, 4}, {4, 8}, {8, 8}, {16, 16}, {1, 3}, {5, 2}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& sample = samples[i];
    const auto [rows, cols] = sizes[i % std::size(sizes)];
    sample.arch = random_machine(engine, rows, cols);
    sample.formats = random_formats(engine);
    sample.job = random_job(engine, sample.formats, i % 8 == 0 ? 70 : 40);
    sample.accelerator = std::make_unique<Accelerator>(sample.arch, sample.formats);
  }
  for (const Sample& sample : samples) {
    const ArrayJob job = sample.job.job(sample.arch, sample.formats);
    const ArrayRun expected = golden_run(sample.arch, sample.formats, job);
    ASSERT_EQ(difference(expected, sample.accelerator->run(job)), "") << text_of(sample);
  }
}

TEST(Accelerator, IntegersAsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(44);
  std::vector<Sample> samples(90);
  constexpr std::pair<int, int> sizes[] = {{4, 4}, {4, 8}, {8, 8}, {1, 3}, {5, 2}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& sample = samples[i];
    const auto [rows, cols] = sizes[i % std::size(sizes)];
    sample.arch = random_machine(engine, rows, cols);
    sample.formats = random_integers(engine);
    sample.job = random_job(engine, sample.formats, i % 8 == 0 ? 70 : 40);
    sample.accelerator = std::make_unique<Accelerator>(sample.arch, sample.formats);
  }
  for (const Sample& sample : samples) {
    const ArrayJob job = sample.job.job(sample.arch, sample.formats);
    const ArrayRun expected = golden_run(sample.arch, sample.formats, job);
    ASSERT_EQ(difference(expected, sample.accelerator->run(job)), "") << text_of(sample);
  }
}

// A machine forgets one job when it begins the next.
TEST(Accelerator, JobsOneAfterTheOther) {
  std::mt19937_64 engine(42);
  Architecture arch = random_machine(engine, 4, 8);
  arch.window = 8;
  arch.a_buffer_bytes = 4000;
  arch.b_buffer_bytes = 6000;
  ArrayFormats formats;
  formats.c_rounding = Rounding::sr(16);
  ArrayFormats others = formats;
  others.c = formats::fp16;
  const ArrayFormats both[] = {formats, others, formats};
  ArrayPool pool(arch, both);
  for (int i = 0; i < 60; ++i) {
    const ArrayFormats& each = both[engine() % 2];
    const OwnedJob owned = random_job(engine, each, 30);
    const ArrayJob job = owned.job(arch, each);
    ASSERT_EQ(difference(golden_run(arch, each, job), pool.run(each, job)), "") << i << ": " << owned.text();
  }
  others.c = formats::e4m3;
  const OwnedJob owned = random_job(engine, others, 5);
  EXPECT_THROW(pool.run(others, owned.job(arch, others)), std::invalid_argument);
}

TEST(Accelerator, CasesOfAnotherProgram) {
  std::ifstream file(MANTISSA_TEST_DATA "/array_cases.json");
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  std::vector<Sample> samples(cases.size());
  ASSERT_EQ(samples.size(), 60U);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const nlohmann::json& arch = cases[i]["arch"];
    Sample& sample = samples[i];
    sample.arch.rows = arch["rows"];
    sample.arch.cols = arch["cols"];
    sample.arch.window = arch["window"];
    sample.arch.depth = arch["depth"];
    sample.arch.port = arch["port"];
    sample.arch.pipe_latency = arch["pipe_latency"];
    sample.arch.acc_double_buffer = arch["acc_double_buffer"];
    sample.arch.a_buffer_bytes = arch["a_buffer"];
    sample.arch.b_buffer_bytes = arch["b_buffer"];
    sample.arch.dram_latency_cycles = arch["dram_latency"];
    sample.arch.dram_burst_bytes = arch["burst_bytes"];
    sample.arch.dram_burst_cycles = arch["burst_cycles"].get<std::int64_t>();
    OwnedJob& job = sample.job;
    job.m = cases[i]["M"];
    job.n = cases[i]["N"];
    job.k = cases[i]["K"];
    job.skip = arch["skip"];
    job.a_bits = 8 * arch["a_elem"].get<int>();
    job.b_bits = 8 * arch["b_elem"].get<int>();
    job.c_bits = 8 * arch["c_elem"].get<int>();
    for (const std::string row : cases[i]["a_nonzero"]) {
      for (const char bit : row) job.a.push_back(bit == '1' ? 0x3C : 0x80);
    }
    job.b.resize(job.k * job.n, 0x41);
    sample.accelerator = std::make_unique<Accelerator>(sample.arch, sample.formats);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const ArrayRun run = sample.accelerator->run(sample.job.job(sample.arch, sample.formats));
    SCOPED_TRACE(text_of(sample));
    EXPECT_EQ(run.cycles.cycles(), cases[i]["cycles"].get<std::uint64_t>());
    EXPECT_EQ(run.cycles.compute, cases[i]["compute"].get<std::uint64_t>());
    EXPECT_EQ(run.cycles.stall_load, cases[i]["stall_load"].get<std::uint64_t>());
    EXPECT_EQ(run.cycles.stall_write_back, cases[i]["stall_write_back"].get<std::uint64_t>());
    EXPECT_EQ(run.cycles.stall_drain, cases[i]["stall_drain"].get<std::uint64_t>());
    EXPECT_EQ(run.cycles.dram_bytes, cases[i]["dram_bytes"].get<std::uint64_t>());
  }
}

// Without Inf and NaN in B, that is: there a skipped zero makes no NaN (ARITHMETIC.md 7).
TEST(Accelerator, SkippingChangesNoOutputBit) {
  std::mt19937_64 engine(43);
  std::vector<Sample> samples(40);
  for (Sample& sample : samples) {
    sample.arch = random_machine(engine, 4, 8);
    sample.formats = random_formats(engine);
    sample.job = random_job(engine, sample.formats, 40);
    for (std::uint8_t& code : sample.job.b) {
      if (sample.formats.b.format().is_nan(code) || sample.formats.b.format().is_inf(code)) code = 0;
    }
    sample.accelerator = std::make_unique<Accelerator>(sample.arch, sample.formats);
  }
  std::uint64_t saved = 0;
  for (Sample& sample : samples) {
    sample.job.skip = false;
    const ArrayRun dense = sample.accelerator->run(sample.job.job(sample.arch, sample.formats));
    sample.job.skip = true;
    const ArrayRun skipping = sample.accelerator->run(sample.job.job(sample.arch, sample.formats));
    EXPECT_EQ(dense.codes, skipping.codes) << text_of(sample);
    EXPECT_EQ(dense.flags, skipping.flags) << text_of(sample);
    EXPECT_EQ(skipping.suppressed_tiles, 0U);
    EXPECT_EQ(dense.cycles.macs, skipping.cycles.macs + skipping.cycles.skipped);
    EXPECT_LE(skipping.cycles.compute, dense.cycles.compute);
    saved += dense.cycles.compute - skipping.cycles.compute;
  }
  EXPECT_GT(saved, 0U);
}

// Buffers of the largest architecture hold what a job needs, no more; what stays in them and what is cut are
// the same as in a buffer of just that size.
TEST(Accelerator, BuffersTakeTheMemoryOfTheJob) {
  std::mt19937_64 engine(45);
  std::vector<Sample> samples(12);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& sample = samples[i];
    sample.arch = random_machine(engine, 4, 8);
    if (i % 3 != 1) sample.arch.a_buffer_bytes = ArchitectureLimits::buffer_bytes;
    if (i % 3 != 2) sample.arch.b_buffer_bytes = ArchitectureLimits::buffer_bytes;
    sample.formats = random_formats(engine);
    sample.job = random_job(engine, sample.formats, 40);
    sample.accelerator = std::make_unique<Accelerator>(sample.arch, sample.formats);
  }
  for (const Sample& sample : samples) {
    const ArrayJob job = sample.job.job(sample.arch, sample.formats);
    const ArrayRun expected = golden_run(sample.arch, sample.formats, job);
    ASSERT_EQ(difference(expected, sample.accelerator->run(job)), "") << text_of(sample);
  }
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Accelerator, RefusesWhatItDoesNotHave) {
  const ArrayFormats formats;
  const auto refusal = [&](auto change, Engine engine) {
    Architecture arch;
    change(arch);
    return message_of([&] { Accelerator accelerator(arch, formats, {.engine = engine}); });
  };
  EXPECT_NE(refusal([](Architecture& arch) { arch.acc_double_buffer = true; }, Engine::rtl)
                .find("has no acc_double_buffer; it has pipe_latency 1 or 2"),
            std::string::npos);
  EXPECT_NE(refusal([](Architecture& arch) { arch.pipe_latency = 3; }, Engine::lockstep)
                .find("has no pipe_latency 3"),
            std::string::npos);
  EXPECT_NE(refusal([](Architecture& arch) { arch.window = 1; }, Engine::rtl).find("window of 1"),
            std::string::npos);
  EXPECT_NE(refusal([](Architecture& arch) { arch.port = 17; }, Engine::rtl).find("port of 17"),
            std::string::npos);
  EXPECT_NE(refusal([](Architecture&) {}, Engine::fast).find("fast"), std::string::npos);
  EXPECT_NE(refusal([](Architecture& arch) { arch.dataflow = Dataflow::scalesim_ws; }, Engine::systemc)
                .find("os-skip"),
            std::string::npos);
  EXPECT_NE(refusal([](Architecture& arch) { arch.rows = 0; }, Engine::systemc).find("rows"),
            std::string::npos);

  EXPECT_NE(message_of([] {
              Accelerator(Architecture{}, {.a = ElementType::integer(16), .b = ElementType::integer(16)});
            }).find("16"),
            std::string::npos);

  Architecture arch;
  arch.a_buffer_bytes = 16;
  Accelerator small(arch, formats);
  ArrayFormats drawing;
  drawing.c_rounding = Rounding::sr(8);
  Accelerator stochastic(Architecture{}, drawing);
  const ArrayFormats bytes{.a = ElementType::integer(8), .b = ElementType::integer(8)};
  Accelerator integers(Architecture{}, bytes);
  OwnedJob job{.m = 2, .n = 2, .k = 2, .a = {1, 2, 3, 4}, .b = {1, 2, 3, 4}};
  EXPECT_NE(message_of([&] { small.run(job.job(arch, formats)); }).find("a_buffer 16"), std::string::npos);
  ArrayJob leaping = job.job(arch, drawing);
  leaping.draws.leap = 17;
  EXPECT_NE(message_of([&] { stochastic.run(leaping); }).find("leap 16"), std::string::npos);
  job.bias = {1};
  EXPECT_NE(message_of([&] { stochastic.run(job.job(arch, drawing)); }).find("biases"), std::string::npos);
  job.bias.clear();
  job.b.pop_back();
  EXPECT_NE(message_of([&] { stochastic.run(job.job(arch, drawing)); }).find("does not fit its operands"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { integers.run(job.job(arch, drawing)); }).find("e5m2 x e5m2 on an array of uint8"),
      std::string::npos);
  // Codes are no integers, and integers of 16 bits do not go into an array of 8.
  EXPECT_NE(message_of([&] { integers.run(job.job(arch, bytes)); }).find("integer GEMM: A should be 2 x 2"),
            std::string::npos);
  OwnedJob wide{.a_range = {.bits = 16, .scale = 1}, .a_integers = {256}, .b_integers = {1}};
  EXPECT_NE(message_of([&] {
              integers.run(wide.job(arch, bytes));
            }).find("uint16 x uint8 on an array of uint8 x uint8"),
            std::string::npos);
  wide.a_range.bits = 8;
  EXPECT_NE(message_of([&] { integers.run(wide.job(arch, bytes)); }).find("does not fit 8 bits"),
            std::string::npos);
  // What was refused leaves nothing behind.
  job.b.push_back(4);
  EXPECT_EQ(difference(golden_run({}, drawing, job.job({}, drawing)), stochastic.run(job.job({}, drawing))),
            "");
}

TEST(Accelerator, MadeBeforeTheFirstOneRuns) {
  const OwnedJob job{.a = {0x3C}, .b = {0x3C}};
  Accelerator first(Architecture{}, ArrayFormats{});
  EXPECT_EQ(first.run(job.job({}, {})).codes, std::vector<std::uint32_t>{0x3C});
  EXPECT_THROW(Accelerator(Architecture{}, ArrayFormats{}), std::logic_error);
}

}  // namespace
}  // namespace mantissa::test
