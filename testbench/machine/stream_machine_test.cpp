// Streams of the second machine against the closed form, with lanes of their own; updates of weights with
// SystemC units against the golden model. SystemC elaborates once per process: each test makes all its
// machines first, and ctest gives each a process of its own.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "sim/machine/job_clock.hpp"
#include "sim/machine/stream_controller.hpp"
#include "sim/machine/update_machine.hpp"
#include "testbench/arch/stream_cases.hpp"
#include "testbench/machine/update_cases.hpp"

namespace mantissa::test {
namespace {

// A lane of registers: what goes in comes out mixed, `latency` cycles later.
class RegisterLanes : public StreamLanes {
 public:
  RegisterLanes(const StreamJob& job, bool deaf = false)
      : job_(job), deaf_(deaf), lanes_(static_cast<std::size_t>(job.lanes)) {}

  // One number of an output, of all inputs and its place in the stream.
  static std::uint32_t mixed(std::span<const std::uint32_t> inputs, std::int64_t element,
                             std::size_t output) {
    std::uint64_t state = mix(static_cast<std::uint64_t>(element) << 8 | output);
    for (const std::uint32_t input : inputs) state = mix(state ^ input);
    return static_cast<std::uint32_t>(state);
  }

  std::string name() const override { return "registers"; }
  void feed(std::int64_t lane, std::int64_t element, std::span<const std::uint32_t> inputs) override {
    EXPECT_EQ(element, next_in_++);
    EXPECT_EQ(element % job_.lanes, lane);
    std::vector<std::uint32_t> outputs;
    for (std::size_t i = 0; i < job_.output_bits.size(); ++i) outputs.push_back(mixed(inputs, element, i));
    lanes_[lane].offered = std::move(outputs);
  }
  void result(std::int64_t lane, std::int64_t element, std::span<std::uint32_t> outputs) override {
    EXPECT_EQ(element, next_out_++);
    const std::optional<Numbers>& front = shown(lane);
    std::copy(front->begin(), front->end(), outputs.begin());
  }
  void offer(std::int64_t lane, bool valid) override { lanes_[lane].valid = valid; }
  bool ready(std::int64_t /*lane*/) override { return !deaf_; }
  bool valid(std::int64_t lane) override { return shown(lane).has_value(); }

  // As JobClock has its units.
  void clock(bool level) {
    if (!level) return;
    for (Lane& lane : lanes_) {
      lane.registers.push_front(lane.valid ? lane.offered : std::nullopt);
      lane.registers.resize(static_cast<std::size_t>(job_.latency));
    }
  }
  void reset(bool /*active*/) {}
  void offer(bool valid) {
    for (Lane& lane : lanes_) lane.valid = valid;
  }
  void take(bool /*ready*/) {}
  static std::optional<Mismatch> compare() { return std::nullopt; }

 private:
  using Numbers = std::vector<std::uint32_t>;
  struct Lane {
    bool valid = false;
    std::optional<Numbers> offered;
    std::deque<std::optional<Numbers>> registers;
  };
  const std::optional<Numbers>& shown(std::int64_t index) const {
    static const std::optional<Numbers> nothing;
    const Lane& lane = lanes_[index];
    if (job_.latency == 0) return lane.valid ? lane.offered : nothing;
    return lane.registers.empty() ? nothing : lane.registers.back();
  }

  StreamJob job_;
  bool deaf_;
  std::vector<Lane> lanes_;
  std::int64_t next_in_ = 0;
  std::int64_t next_out_ = 0;
};

struct StreamBench : public sc_core::sc_module {
  StreamBench(const sc_core::sc_module_name& name, const StreamCase& stream, bool deaf)
      : sc_module(name),
        arch(stream.arch),
        job(stream.job),
        lanes(job, deaf),
        dram("dram", arch, whole_cycle()),
        dma("dma", arch, whole_cycle()),
        clock("clock", lanes) {
    dma.socket.bind(dram.socket);
  }

  StreamRun run(const StreamInputs& inputs) {
    finish_elaboration();
    StreamController controller(lanes, {arch, dma, dram}, job, inputs);
    EXPECT_TRUE(clock.run(controller));
    return controller.result();
  }

  Architecture arch;
  StreamJob job;
  RegisterLanes lanes;
  Dram dram;
  QueueDma dma;
  JobClock<RegisterLanes, StreamController> clock;
};

std::unique_ptr<StreamBench> bench_of(const StreamCase& stream, bool deaf = false) {
  return std::make_unique<StreamBench>(sc_core::sc_gen_unique_name("bench"), stream, deaf);
}

std::vector<std::uint32_t> random_elements(std::mt19937_64& random, std::int64_t count, int bits) {
  std::vector<std::uint32_t> elements(static_cast<std::size_t>(count));
  for (std::uint32_t& element : elements) element = static_cast<std::uint32_t>(random() >> (64 - bits));
  return elements;
}

TEST(StreamMachine, RandomStreamsAsTheClosedForm) {
  std::mt19937_64 random(81);
  std::vector<std::unique_ptr<StreamBench>> benches;
  while (benches.size() < 400) {
    const StreamCase stream = random_stream_case(random);
    try {
      stream_cycles(stream.arch, stream.job);
    } catch (const std::invalid_argument&) {
      continue;
    }
    benches.push_back(bench_of(stream));
  }
  for (std::size_t number = 0; number < benches.size(); ++number) {
    StreamBench& bench = *benches[number];
    const StreamJob& job = bench.job;
    std::vector<std::vector<std::uint32_t>> elements;
    StreamInputs inputs;
    for (const int bits : job.input_bits) {
      elements.push_back(random_elements(random, job.elements, bits));
      inputs.emplace_back(packed_bytes(job.elements, bits));
      for (std::int64_t i = 0; i < job.elements; ++i)
        set_packed_element(inputs.back(), i, bits, elements.back()[i]);
    }
    const StreamRun run = bench.run(inputs);
    ASSERT_EQ(run.cycles, stream_cycles(bench.arch, job)) << "stream " << number;
    ASSERT_EQ(run.outputs.size(), job.output_bits.size());
    std::vector<std::uint32_t> in(job.input_bits.size());
    for (std::int64_t i = 0; i < job.elements; ++i) {
      for (std::size_t tensor = 0; tensor < in.size(); ++tensor) in[tensor] = elements[tensor][i];
      for (std::size_t tensor = 0; tensor < run.outputs.size(); ++tensor) {
        const std::uint64_t mask = (std::uint64_t{1} << job.output_bits[tensor]) - 1;
        ASSERT_EQ(run.outputs[tensor][i], RegisterLanes::mixed(in, i, tensor) & mask)
            << "stream " << number << ", output " << tensor << ", element " << i;
      }
    }
  }
}

TEST(StreamMachine, RefusesOtherInputsAndLanesThatTakeNothing) {
  StreamCase stream;
  stream.job = {.elements = 5, .input_bits = {8, 16}, .output_bits = {8}, .lanes = 2};
  const std::unique_ptr<StreamBench> bench = bench_of(stream, true);
  EXPECT_THROW(bench->run({{1, 2, 3, 4, 5}}), std::invalid_argument);
  EXPECT_THROW(bench->run({{1, 2, 3, 4, 5}, {1, 2}}), std::invalid_argument);
  EXPECT_THROW(bench->run({{1, 2, 3, 4, 5}, std::vector<std::uint8_t>(10)}), UnitFailure);
}

TEST(UpdateMachine, RandomUpdatesAsGoldenModelAndClosedForm) {
  std::mt19937_64 random(82);
  struct Sample {
    Architecture arch;
    UpdateCase update;
    std::unique_ptr<UpdateMachine> machine;
  };
  std::vector<Sample> samples(120);
  for (Sample& sample : samples) {
    sample.arch = random_update_machine(random);
    sample.update = random_update(random, 300);
    sample.machine = std::make_unique<UpdateMachine>(sample.arch, sample.update.config.rounding);
  }
  for (const Sample& sample : samples) {
    const UpdateJob job = sample.update.job();
    ASSERT_EQ(difference(sample.update.expected(sample.arch), sample.machine->run(job)), "")
        << sample.update.text();
  }
}

// The example of ARITHMETIC.md 11.
TEST(UpdateMachine, WorkedByHand) {
  Architecture arch;
  arch.mapping = Mapping::automatic;
  arch.update_lanes = 1;
  UpdateMachine machine(arch, Rounding::rne());
  const std::vector<std::uint32_t> gradient = {0xC28F4BED};
  const std::vector<std::uint16_t> weights = {0x3275};
  const std::vector<float> momentum = {fp32_value(0x3B866834)};
  const UpdateJob job{.gradient = gradient,
                      .weights = weights,
                      .momentum = momentum,
                      .config = {.learning_rate = fp32_value(0x3DCCCCCD),
                                 .momentum = fp32_value(0x3F666666),
                                 .weight_decay = fp32_value(0x3A03126F),
                                 .unscale = UnscaleByExponent{14}}};
  const UpdateRun run = machine.run(job);
  EXPECT_EQ(fp32_bits(run.momentum.at(0)), 0xBA1831AAU);
  EXPECT_EQ(run.weights.at(0), 0x3275);  // of 3E4EAF38, less than half way to 3276
}

TEST(UpdateMachine, RefusesWhatItDoesNotHave) {
  Architecture arch;
  EXPECT_THROW(UpdateMachine(arch, Rounding::rne()), std::invalid_argument);  // no lanes
  arch.mapping = Mapping::automatic;
  arch.update_lanes = 2;
  EXPECT_THROW(UpdateMachine(arch, Rounding::rtz()), std::invalid_argument);
  EXPECT_THROW(UpdateMachine(arch, Rounding::rne(), {.engine = Engine::fast}), std::invalid_argument);
  std::mt19937_64 random(83);
  const UpdateCase update = random_update(random, 30);
  UpdateMachine machine(arch, update.config.rounding);
  const auto refused = [&](const auto& change) {
    UpdateJob job = update.job();
    change(job);
    EXPECT_THROW(machine.run(job), std::invalid_argument);
  };
  refused([](UpdateJob& job) { job.weights = job.weights.subspan(1); });
  refused([](UpdateJob& job) { job.config.rounding = Rounding::rtz(); });
  refused([](UpdateJob& job) { job.config.unscale = UnscaleByFactor{1.0F}; });
  EXPECT_EQ(difference(update.expected(arch), machine.run(update.job())), "");
}

}  // namespace
}  // namespace mantissa::test
