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

// The second sweep as a stream: y of the golden model whatever the order of channels in a lane.
TEST(NormStreamMachine, RandomMachinesAsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(64);
  struct Streamed {
    Architecture arch;
    NormCase norm;
    std::unique_ptr<NormStreamMachine> machine;
  };
  std::vector<Streamed> samples(200);
  for (Streamed& sample : samples) {
    sample.arch = random_norm_machine(engine, static_cast<int>(1 + engine() % 6));
    sample.arch.dram_outstanding = static_cast<int>(1 + engine() % 4);
    sample.norm = random_norm(engine, 14, 30);
    sample.machine = std::make_unique<NormStreamMachine>(sample.arch);
  }
  for (const Streamed& sample : samples) {
    const NormAnswer answer(sample.norm);
    const NormJob job = answer.job(NormDirection::forward);
    const NormShape& shape = sample.norm.shape;
    for (const bool taken : {true, false}) {
      const NormStreamRun run = sample.machine->run({.shape = shape,
                                                     .x = job.x,
                                                     .gamma = job.gamma,
                                                     .beta = job.beta,
                                                     .saved = job.saved,
                                                     .drain = job.drain,
                                                     .draws = job.draws,
                                                     .statistics_taken = taken});
      StreamJob stream = fused_norm_job(sample.arch, streams_of(job), NormDirection::forward);
      ASSERT_EQ(stream.latency, 3);
      ASSERT_EQ(stream.ready, 37U);
      if (!taken) stream.ready = 0;
      ASSERT_EQ(run.cycles, stream_cycles(sample.arch, stream)) << sample.norm.text();
      const NormRun expected = answer.expected(sample.arch, job);
      for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
        for (std::int64_t element = 0; element < job.elements(); ++element) {
          ASSERT_EQ(run.codes[job.place(channel, element)],
                    expected.codes[channel * job.elements() + element])
              << sample.norm.text() << ": " << channel << ", " << element;
        }
      }
    }
  }
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
