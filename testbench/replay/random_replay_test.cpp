// Whole replays drawn at random: the engines that simulate cycles beside the golden kernels and the closed
// form, and the same results on a plain machine. SystemC elaborates once per process, so a test makes the
// machines of all its jobs before the first one runs; ctest gives each test a process of its own.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/energy/energy_yaml.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/simulated_check.hpp"
#include "sim/report/report_json.hpp"
#include "sim/support/quantity.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/machine/one_of.hpp"
#include "testbench/replay/random_jobs.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;

// Remembers what a machine would have to be. Nothing is run.
class NeedsOf : public replay::CrossCheck {
 public:
  void prepare(const Recipe& /*recipe*/, const Architecture& /*arch*/,
               const replay::MachineNeeds& needs) override {
    needs_ = needs;
  }
  void run(const replay::GemmPass& /*pass*/, const replay::GemmPassResult& /*result*/,
           const LayerPlan& /*plan*/, const Step& /*step*/, const std::string& /*what*/) override {}
  void run_norm(const replay::NormPass& /*pass*/, const replay::NormResult& /*result*/,
                const std::string& /*what*/) override {}
  void run_update(const replay::UpdateValues& /*update*/, const std::string& /*what*/) override {}
  std::uint64_t tiles_run() const override { return 0; }
  const replay::MachineNeeds& needs() const { return needs_; }

 private:
  replay::MachineNeeds needs_;
};

// A machine that was made before.
class Made : public replay::CrossCheck {
 public:
  explicit Made(replay::CrossCheck& machine) : machine_(machine) {}
  void prepare(const Recipe& /*recipe*/, const Architecture& /*arch*/,
               const replay::MachineNeeds& /*needs*/) override {}
  void run(const replay::GemmPass& pass, const replay::GemmPassResult& result, const LayerPlan& plan,
           const Step& step, const std::string& what) override {
    machine_.run(pass, result, plan, step, what);
  }
  void run_norm(const replay::NormPass& pass, const replay::NormResult& result,
                const std::string& what) override {
    machine_.run_norm(pass, result, what);
  }
  void run_update(const replay::UpdateValues& update, const std::string& what) override {
    machine_.run_update(update, what);
  }
  std::uint64_t tiles_run() const override { return machine_.tiles_run(); }

 private:
  replay::CrossCheck& machine_;
};

Json replayed(const trace::Trace& trace, const RandomJob& job, const Architecture& arch,
              replay::CrossCheck* check) {
  static const EnergyTable table = load_energy_table("horowitz45").value;
  ReplayReport report = replay::replay(trace, job.recipe, arch, {table}, check, {}, {});
  report.sampled_tiles = 0;
  return Json::parse(report_json(report));
}

// What a machine has no part in.
Json results_of(const Json& report) {
  Json results{{"tensors", report["tensors"]}, {"gradients", report["gradients"]}, {"layers", Json::array()}};
  for (const Json& layer : report["layers"]) {
    if (layer["pass"] == "update") continue;
    Json result;
    for (const char* key : {"layer", "pass", "sqnr_db", "cosine", "max_ulp", "bias", "overflow", "underflow",
                            "nonfinite", "accumulator_sqnr_db", "elements"}) {
      if (layer.contains(key)) result[key] = layer[key];
    }
    results["layers"].push_back(std::move(result));
  }
  return results;
}

// A job and the machine that it runs on.
struct Job {
  RandomJob job;
  std::unique_ptr<Scratch> scratch = std::make_unique<Scratch>();
  std::unique_ptr<trace::Trace> trace;
  Json report;
  std::string engine;
  std::unique_ptr<replay::CrossCheck> machine;
};

std::unique_ptr<trace::Trace> trace_of(const RandomJob& job, const Scratch& scratch) {
  const std::string path = scratch.path() + "/trace.safetensors";
  trace::SyntheticJob writing;
  writing.path = path;
  writing.network = job.network;
  writing.numbers = job.numbers;
  trace::write_synthetic(writing);
  return std::make_unique<trace::Trace>(path);
}

// What the jobs have in them, so that none of it is there by chance only.
struct Seen {
  int refused = 0;  // with the buffers first drawn
  int given = 0;
  int packed = 0;
  int drained = 0;  // norms whose statistics a drain takes
  int range = 0;
  int integers = 0;
  int updates = 0;
};

// Buffers that a refusal names get the sizes that it promises to work. Of one byte less it must not.
void grow_buffers(const trace::Trace& trace, RandomJob& job, const std::string& refusal) {
  std::vector<std::int64_t*> grown;
  for (const auto& [key, bytes] :
       {std::pair("a_buffer ", &job.arch.a_buffer_bytes), std::pair("b_buffer ", &job.arch.b_buffer_bytes),
        std::pair("c_buffer ", &job.arch.c_buffer_bytes)}) {
    const std::size_t place = refusal.find(key);
    if (place == std::string::npos) continue;
    const std::string promise = "the smallest that works is ";
    const std::size_t size = refusal.find(promise, place) + promise.size();
    *bytes = parse_quantity(refusal.substr(size, refusal.find(" (", size) - size), Unit::bytes);
    grown.push_back(bytes);
  }
  ASSERT_FALSE(grown.empty()) << refusal;
  for (std::int64_t* const bytes : grown) {
    --*bytes;
    EXPECT_THROW(replayed(trace, job, job.arch, nullptr), std::invalid_argument) << text_of(job);
    ++*bytes;
  }
}

Job next_job(std::mt19937_64& engine, Arrays arrays, Seen& seen) {
  Job made;
  made.job = random_job(engine, arrays);
  made.trace = trace_of(made.job, *made.scratch);
  NeedsOf needs;
  try {
    made.report = replayed(*made.trace, made.job, made.job.arch, &needs);
  } catch (const std::invalid_argument& error) {
    ++seen.refused;
    grow_buffers(*made.trace, made.job, error.what());
    made.report = replayed(*made.trace, made.job, made.job.arch, &needs);
  }
  const Architecture& arch = made.job.arch;
  seen.given += arch.mapping == Mapping::given ? 1 : 0;
  seen.packed += arch.gradient_storage == GradientStorage::packed ? 1 : 0;
  seen.drained += needs.needs().drained ? 1 : 0;
  seen.range += needs.needs().norm ? 1 : 0;
  seen.integers += made.job.recipe.weights.type.is_integer() ? 1 : 0;
  seen.updates += arch.update_lanes > 0 ? 1 : 0;
  made.engine = arrays == Arrays::any ? "systemc" : one_of<std::string>(engine, {"rtl", "lockstep"});
  const std::uint64_t sample = one_of(engine, {0, 0, 4});
  made.machine =
      replay::make_cross_check({.engine = made.engine, .sample = sample, .again = text_of(made.job)});
  made.machine->prepare(made.job.recipe, arch, needs.needs());
  return made;
}

void expect_agreement(std::uint64_t seed, int count, Arrays arrays) {
  std::mt19937_64 engine(seed);
  Seen seen;
  std::vector<Job> jobs;
  while (static_cast<int>(jobs.size()) < count) jobs.push_back(next_job(engine, arrays, seen));
  for (const Job& each : jobs) {
    Made machine(*each.machine);
    ASSERT_EQ(replayed(*each.trace, each.job, each.job.arch, &machine), each.report)
        << each.engine << ", " << text_of(each.job);
    const Json plain = replayed(*each.trace, each.job, plain_machine(each.job.arch), nullptr);
    ASSERT_EQ(results_of(each.report), results_of(plain)) << text_of(each.job);
  }
  std::cout << count << " jobs, " << seen.refused << " refused: " << seen.given << " given mappings, "
            << seen.packed << " packed, " << seen.drained << " drained norms, " << seen.range << " Range BN, "
            << seen.integers << " of integers, " << seen.updates << " with updates\n";
  for (const int some : {seen.given, seen.packed, seen.drained, seen.range, seen.integers, seen.updates})
    EXPECT_GT(some, count / 20);
}

TEST(RandomReplay, SimulatedAsGoldenAndClosedForm) { expect_agreement(81, 20, Arrays::any); }
TEST(RandomReplay, RtlAsGoldenAndClosedForm) { expect_agreement(82, 8, Arrays::compiled); }

TEST(LongRandomReplay, SimulatedAsGoldenAndClosedForm) { expect_agreement(83, 300, Arrays::any); }
TEST(LongRandomReplay, RtlAsGoldenAndClosedForm) { expect_agreement(84, 300, Arrays::compiled); }

}  // namespace
}  // namespace mantissa::test
