// The second machine in SystemC against the golden kernels and the closed form. SystemC elaborates once per
// process: each test makes all its machines first, and ctest gives each a process of its own.
#include "sim/machine/block_accelerator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>

#include "testbench/machine/block_cases.hpp"
#include "testbench/machine/machine_cases.hpp"

namespace mantissa::test {
namespace {

struct Sample {
  BlockCase made;
  std::unique_ptr<BlockAccelerator> accelerator;
};

// What the cases were: without a share of each, a test of many says little.
class Coverage {
 public:
  void add(const BlockCase& made, const BlockGolden& golden) {
    const OwnedPass& pass = made.pass;
    ++seen_["pass " + std::string(name_of(pass.pass))];
    ++seen_[pass.mapping.order == BlockOrder::m_outside ? "m_outside" : "n_outside"];
    ++seen_["A keeps " + std::string(name_of(golden.cost.a_scope))];
    ++seen_["B keeps " + std::string(name_of(golden.cost.b_scope))];
    ++seen_[golden.cost.two_blocks ? "two blocks" : "one block"];
    ++seen_["outstanding " + std::to_string(made.arch.dram_outstanding)];
    if (pass.shape.groups > 1) ++seen_["groups"];
    if (pass.pass == Pass::input_gradient && pass.shape.stride[0] * pass.shape.stride[1] > 1)
      ++seen_["phases"];
    const GemmCycles& cycles = golden.run.cycles;
    if (cycles.sums_loaded > 0) ++seen_["sums loaded"];
    if (cycles.steps > 2) ++seen_["steps"];
    if (cycles.stall_load > 0) ++seen_["load stalls"];
    if (cycles.dram_bytes > cycles.tensor_bytes) ++seen_["lines loaded again"];
    if (golden.run.suppressed_tiles > 0) ++seen_["suppressed"];
    if (made.formats.stochastic()) ++seen_["draws"];
    if (made.formats.integers()) {
      ++seen_["integers, " + std::string(name_of(pass.pass))];
      if (made.formats.a.bits() == 16 || made.formats.b.bits() == 16) ++seen_["integers of 16 bits"];
      if (cycles.sums_loaded > 0) ++seen_["sums of integers loaded"];
      if (pass.pass == Pass::input_gradient && pass.shape.stride[0] * pass.shape.stride[1] > 1)
        ++seen_["holes that hold integers"];
    }
    if (pass.packed) ++seen_["packed"];
    if (pass.packed && made.formats.a.bits() < 8) ++seen_["packed codes that are no bytes"];
    if (pass.packed && cycles.dram_bytes > cycles.tensor_bytes) ++seen_["packed lines loaded again"];
  }
  int of(const std::string& what) const {
    const auto found = seen_.find(what);
    return found == seen_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, int> seen_;
};

std::vector<Sample> random_samples(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 engine(seed);
  std::vector<Sample> samples(count);
  constexpr std::pair<int, int> sizes[] = {{4, 4}, {4, 8}, {8, 8}, {2, 3}, {1, 3}, {5, 2}, {16, 16}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto [rows, cols] = sizes[i % std::size(sizes)];
    samples[i].made = random_case(engine, rows, cols);
    samples[i].accelerator =
        std::make_unique<BlockAccelerator>(samples[i].made.arch, samples[i].made.formats);
  }
  return samples;
}

TEST(BlockAccelerator, RandomPassesAsGoldenKernelsAndClosedForm) {
  const std::vector<Sample> samples = random_samples(51, 420);
  Coverage coverage;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const BlockCase& made = samples[i].made;
    SCOPED_TRACE(std::to_string(i) + ": " + made.text());
    const BlockArrayJob job = made.pass.job(made.arch, made.formats);
    const BlockGolden golden = golden_run(made.arch, made.formats, job);
    coverage.add(made, golden);
    ArrayRun run;
    ASSERT_NO_THROW(run = samples[i].accelerator->run(job));
    ASSERT_EQ(difference(golden.run, run), "");
    ASSERT_EQ(golden.run.cycles, run.cycles);  // and what the text above leaves out
  }
  for (const char* what : {"pass forward",
                           "pass input_gradient",
                           "pass weight_gradient",
                           "m_outside",
                           "n_outside",
                           "A keeps all",
                           "A keeps row",
                           "A keeps step",
                           "B keeps all",
                           "B keeps row",
                           "B keeps step",
                           "two blocks",
                           "one block",
                           "outstanding 1",
                           "outstanding 4",
                           "groups",
                           "phases",
                           "sums loaded",
                           "steps",
                           "load stalls",
                           "lines loaded again",
                           "suppressed",
                           "draws",
                           "integers, forward",
                           "integers, input_gradient",
                           "integers, weight_gradient",
                           "integers of 16 bits",
                           "sums of integers loaded",
                           "holes that hold integers",
                           "packed",
                           "packed codes that are no bytes",
                           "packed lines loaded again"}) {
    EXPECT_GE(coverage.of(what), 10) << what;
  }
}

// The same with statistics at the drain, of both passes.
TEST(BlockAccelerator, StatisticsAtTheDrainAsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(54);
  std::vector<Sample> samples;
  constexpr std::pair<int, int> sizes[] = {{4, 4}, {4, 8}, {8, 8}, {2, 3}, {1, 3}, {5, 2}, {16, 16}};
  while (samples.size() < 300) {
    const auto [rows, cols] = sizes[samples.size() % std::size(sizes)];
    BlockCase made = random_case(engine, rows, cols);
    add_statistics(engine, made);
    if (made.pass.statistics == DrainStatistics::none || made.pass.outputs.cols() > std::int64_t{16} * cols)
      continue;
    auto accelerator = std::make_unique<BlockAccelerator>(
        made.arch, made.formats, AcceleratorOptions{.drain_statistics = {1, 1, made.pass.parts > 1}});
    samples.push_back({std::move(made), std::move(accelerator)});
  }
  int turns = 0;
  int two_blocks = 0;
  int drain_stalls = 0;
  int backward = 0;
  int chunks = 0;
  int parts = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const BlockCase& made = samples[i].made;
    SCOPED_TRACE(std::to_string(i) + ": " + made.text());
    const BlockArrayJob job = made.pass.job(made.arch, made.formats);
    const BlockGolden golden = golden_run(made.arch, made.formats, job);
    ArrayRun run;
    ASSERT_NO_THROW(run = samples[i].accelerator->run(job));
    ASSERT_EQ(difference(golden.run, run), "");
    ASSERT_EQ(golden.run.cycles, run.cycles);
    ASSERT_EQ(difference(golden_statistics(job, made.formats, run.codes), run.statistics), "");
    if (job.outputs.cols() > made.arch.cols) ++turns;
    if (golden.cost.two_blocks) ++two_blocks;
    if (run.cycles.stall_drain > 0) ++drain_stalls;
    if (job.statistics.kind == DrainStatistics::backward) ++backward;
    if (job.statistics.chunks > 1) ++chunks;
    if (job.statistics.parts > 1) ++parts;
  }
  for (const int share : {turns, two_blocks, drain_stalls, backward, chunks, parts}) EXPECT_GE(share, 20);
}

// Passes of all kinds on one machine, some of which it refuses.
void run_jobs(BlockAccelerator& accelerator, std::mt19937_64& engine) {
  const Architecture& arch = accelerator.architecture();
  const ArrayFormats& formats = accelerator.formats();
  int run = 0;
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    OwnedPass pass = random_case(engine, 4, 8, [&](BlockCase& made) { made.formats = formats; }).pass;
    pass.a_bits = pass.b_bits = pass.c_bits = 0;
    const BlockArrayJob job = pass.job(arch, formats);
    SCOPED_TRACE(std::to_string(i) + ": " + pass.text());
    BlockGolden golden;
    try {
      golden = golden_run(arch, formats, job);
    } catch (const std::invalid_argument&) {
      ASSERT_THROW(accelerator.run(job), std::invalid_argument);
      ++refused;
      continue;
    }
    ++run;
    ASSERT_EQ(difference(golden.run, accelerator.run(job)), "");
  }
  EXPECT_GT(run, 50);
  EXPECT_GT(refused, 5);
}

// A machine forgets one job when it begins the next, refused ones included.
TEST(BlockAccelerator, JobsOneAfterTheOther) {
  std::mt19937_64 engine(52);
  Architecture arch = random_case(engine, 4, 8).arch;
  arch.window = 4;
  arch.a_buffer_bytes = 500;
  arch.b_buffer_bytes = 700;
  arch.c_buffer_bytes = 3000;
  arch.mapping = Mapping::automatic;
  arch.gradient_storage = GradientStorage::packed;
  ArrayFormats formats;
  formats.c_rounding = Rounding::sr(16);
  BlockAccelerator codes(arch, formats);
  BlockAccelerator integers(arch, {.a = ElementType::integer(8), .b = ElementType::integer(8)});
  run_jobs(codes, engine);
  run_jobs(integers, engine);
}

// Whatever the mapping, the bits are the same.
TEST(BlockAccelerator, MappingsChangeNoOutputBit) {
  std::mt19937_64 engine(53);
  std::vector<Sample> samples(12);
  for (Sample& sample : samples) {
    sample.made = random_case(engine, 4, 4);
    Architecture& arch = sample.made.arch;
    arch.window = 1;
    arch.a_buffer_bytes = arch.b_buffer_bytes = arch.c_buffer_bytes = 1 << 16;
    sample.accelerator = std::make_unique<BlockAccelerator>(arch, sample.made.formats);
  }
  for (const Sample& sample : samples) {
    OwnedPass pass = sample.made.pass;
    SCOPED_TRACE(sample.made.text());
    pass.mapping = {.m_block = pass.outputs.rows(), .n_block = pass.outputs.cols(), .k_block = 1 << 20};
    const bool packed = std::exchange(pass.packed, false);
    const ArrayRun whole = sample.accelerator->run(pass.job(sample.made.arch, sample.made.formats));
    // One step: nothing is moved twice.
    EXPECT_EQ(whole.cycles.dram_bytes, whole.cycles.tensor_bytes);
    for (const BlockOrder order : {BlockOrder::m_outside, BlockOrder::n_outside}) {
      pass.mapping = {.order = order, .m_block = 4, .n_block = 4, .k_block = 1};
      pass.packed = false;
      const ArrayRun cut = sample.accelerator->run(pass.job(sample.made.arch, sample.made.formats));
      EXPECT_EQ(cut.codes, whole.codes);
      EXPECT_EQ(cut.flags, whole.flags);
      EXPECT_EQ(cut.cycles.macs, whole.cycles.macs);
      EXPECT_GE(cut.cycles.dram_bytes, whole.cycles.dram_bytes);
      pass.packed = packed;
      EXPECT_EQ(sample.accelerator->run(pass.job(sample.made.arch, sample.made.formats)).codes, whole.codes);
    }
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

TEST(BlockAccelerator, RefusesWhatItDoesNotHave) {
  const auto machine = [](const ArrayFormats& formats, const AcceleratorOptions& options = {}) {
    return message_of([&] { BlockAccelerator(Architecture{}, formats, options); });
  };
  EXPECT_NE(machine({.a = formats::fp32, .b = formats::fp32}).find("not fp32 x fp32"), std::string::npos);
  EXPECT_NE(machine({.a = ElementType::integer(8), .b = formats::e5m2}).find("not uint8 x e5m2"),
            std::string::npos);
  EXPECT_NE(machine({.a = ElementType::integer(16), .b = ElementType::integer(16)}).find("at most one"),
            std::string::npos);
  EXPECT_NE(machine({}, {.engine = Engine::fast}).find("fast"), std::string::npos);

  Architecture arch;
  arch.rows = arch.cols = arch.window = 4;
  arch.port = 4;
  arch.a_buffer_bytes = arch.b_buffer_bytes = 16;
  arch.c_buffer_bytes = 64;
  BlockAccelerator accelerator(arch, {});
  OwnedPass pass;
  pass.shape.batch = pass.shape.in_channels = pass.shape.out_channels = 8;
  pass.first.assign(64, 0x3C);
  pass.second.assign(64, 0x3C);
  pass.outputs = {0, 8, 0, 8};
  pass.mapping = {.m_block = 4, .n_block = 4, .k_block = 4};
  const auto refusal = [&](auto change) {
    OwnedPass changed = pass;
    change(changed);
    return message_of([&] { accelerator.run(changed.job(arch, {})); });
  };
  EXPECT_NE(refusal([](OwnedPass& p) { p.mapping.k_block = 8; }).find("a_buffer 16"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.mapping.n_block = 8; }).find("b_buffer 16"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) {
              p.mapping.n_block = 8;
              p.mapping.k_block = 2;
            }).find("k_block 2"),
            std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.outputs.row0 = 2; }).find("from a multiple of 4 rows"),
            std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.outputs.col1 = 9; }).find("of 8 x 8"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.first.pop_back(); }).find("the first operand has 63 elements"),
            std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.second.pop_back(); }).find("the second operand has 63"),
            std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.bias.assign(7, 0); }).find("has 7 biases"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.c_scale = 128; }).find("-128..127"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.b_bits = 7; }).find("at least as many bits"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.shape.groups = 3; }).find("3 groups"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.pass = Pass::update; }).find("update"), std::string::npos);
  EXPECT_NE(refusal([](OwnedPass& p) { p.packed = true; }).find("gradient_storage dense"), std::string::npos);
  EXPECT_NE(message_of([&] {
              BlockArrayJob job = pass.job(arch, {});
              job.first = EncodedTensor::codes(pass.first, formats::e4m3, 0);
              accelerator.run(job);
            }).find("e4m3 x e5m2 on an array of e5m2 x e5m2"),
            std::string::npos);
  // What was refused leaves nothing behind. 8 * 1 * 1 = 8.
  EXPECT_EQ(accelerator.run(pass.job(arch, {})).codes, std::vector<std::uint32_t>(64, 0x48));
}

}  // namespace
}  // namespace mantissa::test
