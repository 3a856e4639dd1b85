// Range BN on the SystemC machine against the golden models and the closed form. SystemC elaborates once per
// process: each test makes all its machines first, and ctest gives each a process of its own.
#include "sim/machine/norm_machine.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "sim/machine/norm_stream.hpp"
#include "testbench/machine/norm_cases.hpp"

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
           std::to_string(arch.dram_burst_cycles.value());
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

// The second passes as streams: y and dx of the golden model whatever the order of channels in a lane.
// Latency and Ready are those of ARITHMETIC.md 8, "Fused".
TEST(NormStreamMachine, RandomMachinesAsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(64);
  struct Streamed {
    Architecture arch;
    NormCase norm;
    std::unique_ptr<NormStreamMachine> machine;
  };
  std::vector<Streamed> samples(200);
  for (Streamed& sample : samples) {
    sample.arch = random_stream_machine(engine, static_cast<int>(1 + engine() % 6));
    sample.norm = random_norm(engine, 14, 30);
    sample.machine = std::make_unique<NormStreamMachine>(sample.arch);
  }
  for (const Streamed& sample : samples) {
    const NormAnswer answer(sample.norm);
    for (const NormDirection direction : directions) {
      const bool forward = direction == NormDirection::forward;
      NormStreamJob job = answer.second_pass(direction);
      for (const bool taken : {true, false}) {
        job.statistics_taken = taken;
        const NormStreamRun run = sample.machine->run(job);
        StreamJob stream = fused_norm_job(sample.arch, streams_of(answer.job(direction)), direction);
        ASSERT_EQ(stream.latency, forward ? 3 : 5);
        ASSERT_EQ(stream.ready, forward ? 37U : 8U);
        if (!taken) stream.ready = 0;
        ASSERT_EQ(run.cycles, stream_cycles(sample.arch, stream)) << sample.norm.text();
        ASSERT_EQ(run.codes, answer.results(direction)) << sample.norm.text();
      }
    }
  }
}

// The example of ARITHMETIC.md 8, "Fused".
TEST(NormStreamMachine, SecondBackwardPassByHand) {
  const std::vector<float> x{1, -2, 4, 3};
  const std::vector<float> g{1, 0, 0, 0.5F};
  const std::vector<float> gamma{2};
  const std::vector<RangeBnSaved> saved{
      {.mean = 1.5F, .inv = fp32_value(0x3E8E16C4), .argmax = {2}, .argmin = {1}}};
  const std::vector<RangeBnCorrection> corrections{{.mean_h = 0.75F, .t = fp32_value(0xBCBD738E)}};
  NormStreamMachine machine(Architecture{});
  const NormStreamRun run = machine.run({.direction = NormDirection::backward,
                                         .shape = {.batch = 1, .channels = 1, .spatial = 4},
                                         .x = EncodedTensor::fp32(x),
                                         .g = EncodedTensor::fp32(g),
                                         .gamma = gamma,
                                         .saved = saved,
                                         .corrections = corrections,
                                         .chunk_length = 4});
  EXPECT_EQ(run.codes, (std::vector<std::uint32_t>{0x3EB19C75, 0xBE3D73B4, 0xBE6CD098, 0x3D8E16C4}));
}

TEST(NormStreamMachine, RefusesWhatDoesNotFit) {
  std::mt19937_64 engine(65);
  NormStreamMachine machine(random_stream_machine(engine, 2));
  NormCase norm = random_norm(engine, 6, 30);
  while (norm.shape.channels < 2 || norm.config.channel.chunks < 2) norm = random_norm(engine, 6, 30);
  const NormAnswer answer(norm);
  const auto refused = [&](NormDirection direction, const auto& change, const std::string& why) {
    NormStreamJob job = answer.second_pass(direction);
    change(job);
    try {
      machine.run(job);
      ADD_FAILURE() << "nothing was refused: " << why;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  refused(
      NormDirection::forward, [](NormStreamJob& job) { job.gamma = {}; }, "gamma has 0 elements");
  refused(
      NormDirection::forward, [](NormStreamJob& job) { job.beta = {}; }, "beta has 0 elements");
  refused(
      NormDirection::forward, [](NormStreamJob& job) { job.x = {}; }, "x has 0 elements");
  const auto backward = NormDirection::backward;
  refused(
      backward, [](NormStreamJob& job) { job.g = {}; }, "g has 0 elements");
  refused(
      backward, [](NormStreamJob& job) { job.corrections = {}; }, "corrections has 0 elements");
  refused(
      backward, [](NormStreamJob& job) { job.chunk_length = 0; }, "chunk of 0");
  refused(
      backward, [](NormStreamJob& job) { --job.chunk_length; }, "for each chunk of");
  // What was refused leaves nothing behind.
  EXPECT_EQ(machine.run(answer.second_pass(backward)).codes, answer.results(backward));
}

// The example of ARITHMETIC.md 8.
TEST(NormMachine, WorkedByHand) {
  Architecture arch;
  arch.norm_lanes = 2;
  arch.a_buffer_bytes = 12;
  arch.b_buffer_bytes = 64;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  NormCase norm{.shape = {.batch = 1, .channels = 3, .spatial = 5},
                .storage = NormCase::Storage::eight_bit_mode,
                .drain = Conversion{.to = formats::e5m2},
                .x = {1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0, 0, 1, 0, 0},
                .gamma = {1, 1, 1},
                .beta = {0, 0, 0}};
  norm.config.precision = NormPrecision::int8;
  norm.g = norm.x;
  NormMachine machine(arch, size_of(norm.shape));
  const NormRun run = machine.run(NormAnswer(norm).job(NormDirection::forward));
  EXPECT_EQ(run.cycles.compute, 106U);
  EXPECT_EQ(run.cycles.stall_load, 31U);
  EXPECT_EQ(run.cycles.stall_write_back, 13U);
  EXPECT_EQ(run.cycles.stall_drain, 0U);
  EXPECT_EQ(run.cycles.dram_bytes, 45U);
  EXPECT_EQ(run.cycles.sram_bytes, 90U);
  EXPECT_EQ(run.saved[0].argmax, std::vector<std::int64_t>{4});
  EXPECT_EQ(run.saved[1].argmax, std::vector<std::int64_t>{0});
  EXPECT_EQ(run.saved[2].argmin, std::vector<std::int64_t>{0});
}

// A machine forgets one job when it begins the next; a group on its own gives the bits of the whole.
TEST(NormMachine, JobsOneAfterTheOtherAndGroupsAlone) {
  std::mt19937_64 engine(62);
  const Architecture arch = random_norm_machine(engine, 4);
  NormMachine machine(arch, {.channels = 14, .elements = 200});
  for (int i = 0; i < 40; ++i) {
    const NormCase norm = random_norm(engine, 14, 40);
    const NormAnswer answer(norm);
    for (const NormDirection direction : directions) {
      const NormJob whole = answer.job(direction);
      ASSERT_EQ(difference(answer.expected(arch, whole), machine.run(whole)), "") << i << ": " << norm.text();
      const auto group = static_cast<std::int64_t>(engine() % ((norm.shape.channels + 3) / 4));
      const NormJob part =
          answer.part(direction, 4 * group, std::min<std::int64_t>(4, norm.shape.channels - 4 * group));
      ASSERT_EQ(difference(answer.expected(arch, part), machine.run(part)), "")
          << i << ": group " << group << " of " << norm.text();
    }
  }
}

TEST(NormMachine, RefusesWhatItDoesNotHave) {
  const auto message_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  const auto refused = [&](const auto& call, const std::string& why) {
    const std::string message = message_of(call);
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  const Architecture arch;
  refused([&] { NormMachine(arch, {}, {.engine = Engine::fast}); }, "fast");
  refused([&] { NormMachine(arch, {.channels = 0}); }, "0 channels");
  Architecture other;
  other.dataflow = Dataflow::stonne_os;
  refused([&] { NormMachine(other, {}); }, "os-skip");

  std::mt19937_64 engine(63);
  NormCase norm = random_norm(engine, 8, 30);
  while (norm.storage != NormCase::Storage::eight_bit_mode || norm.shape.channels < 3)
    norm = random_norm(engine, 8, 30);
  const NormAnswer answer(norm);
  NormMachine machine(arch, size_of(norm.shape));
  NormMachine narrow(arch, {.channels = 2, .elements = 2});
  const auto refused_job = [&](const auto& change, const std::string& why) {
    NormJob job = answer.job(NormDirection::forward);
    change(job);
    refused([&] { machine.run(job); }, why);
  };
  refused([&] { narrow.run(answer.job(NormDirection::forward)); }, "were not built for");
  refused_job([](NormJob& job) { job.first_channel = 1; }, "channels 1 and up");
  refused_job([](NormJob& job) { job.channels = 0; }, "0 of them");
  refused_job([](NormJob& job) { job.channels = 1; }, "range of inv");
  refused_job([](NormJob& job) { job.gamma = job.gamma.first(1); }, "1 gammas");
  refused_job([](NormJob& job) { job.beta = {}; }, "0 betas");
  refused_job([](NormJob& job) { job.x = EncodedTensor(); }, "not what is in memory");
  refused_job([](NormJob& job) { job.config.chunks = 1 << 19; }, "chunks");
  refused_job([](NormJob& job) { job.drain = Conversion{.to = formats::e5m2, .scale = 300}; }, "scale");
  NormJob backward = answer.job(NormDirection::backward);
  backward.saved = backward.saved.first(1);
  refused([&] { machine.run(backward); }, "1 saved");
  // What was refused leaves nothing behind.
  const NormJob job = answer.job(NormDirection::forward);
  EXPECT_EQ(difference(answer.expected(arch, job), machine.run(job)), "");
  EXPECT_THROW(NormMachine(arch, {}), std::logic_error);
}

}  // namespace
}  // namespace mantissa::test
