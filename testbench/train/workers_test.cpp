// Runs of several workers: the same bits however they are spread, the known limits of the method, runs that
// go on from a checkpoint, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sim/recipe/recipe_yaml.hpp"
#include "sim/train/network_yaml.hpp"
#include "sim/train/trainer.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"
#include "testbench/train/edited_checkpoint.hpp"
#include "testbench/train/thread_group.hpp"
#include "testbench/train/toy.hpp"

namespace mantissa::train {
namespace {

using mantissa::test::refusal;
using mantissa::test::Scratch;

// Compression on top of a shipped recipe, for tensors of some hundred elements.
Recipe compressed(const std::string& name) {
  Recipe recipe = test::toy_recipe(name);
  recipe.compression = {.sparsity = 0.95, .momentum = 0.9, .warm_up = {0.75}, .sample = 0.1};
  recipe.clip_norm = 3;
  recipe.norm.range.channel.chunks = 1;
  return recipe;
}

TrainReport train(const Recipe& recipe, const RunOptions& options, const FashionMnist& data, int workers) {
  Model model(test::toy_network(), recipe, options.seed);
  workers::LocalGroup group(workers);
  return Trainer(model, data, options, nullptr, &group).run({}, {});
}

RunOptions short_options(int epochs) {
  RunOptions options = test::toy_options(epochs);
  options.batch = 6;
  return options;
}

const std::vector<std::string> arithmetics = {"fp32", "fp8", "int8-rangebn", "lognormal-sparse"};

TEST(Workers, OneProcessEachGivesTheBitsOfOneForAll) {
  const FashionMnist data = test::toy_data(100, 20);
  for (const std::string& name : arithmetics) {
    for (const Recipe& recipe : {test::toy_recipe(name), compressed(name)}) {
      const RunOptions options = short_options(2);
      const TrainReport together = train(recipe, options, data, 3);
      test::Meeting meeting(3);
      std::vector<TrainReport> reports(3);
      std::vector<std::thread> processes;
      processes.reserve(3);
      for (int worker = 0; worker < 3; ++worker) {
        processes.emplace_back([&, worker] {
          test::ThreadGroup group(meeting, worker);
          Model model(test::toy_network(), recipe, options.seed);
          reports[worker] = Trainer(model, data, options, nullptr, &group).run({}, {});
        });
      }
      for (std::thread& process : processes) process.join();
      for (const TrainReport& report : reports) {
        EXPECT_EQ(report.weights_digest, together.weights_digest) << name;
        EXPECT_EQ(report.exchange->sent_bytes(), together.exchange->sent_bytes()) << name;
        ASSERT_EQ(report.history.size(), 2U);
        for (std::size_t epoch = 0; epoch < 2; ++epoch) {
          EXPECT_EQ(report.history[epoch].train_loss, together.history[epoch].train_loss);
          EXPECT_EQ(report.history[epoch].val_loss, together.history[epoch].val_loss);
        }
      }
    }
  }
}

TEST(Workers, BitsDependOnTheirNumberAndNotOnThreads) {
  const FashionMnist data = test::toy_data(100, 20);
  RunOptions options = short_options(1);
  const std::string once = train(compressed("fp8"), options, data, 3).weights_digest;
  EXPECT_NE(train(compressed("fp8"), options, data, 2).weights_digest, once);
  options.threads = 3;
  EXPECT_EQ(train(compressed("fp8"), options, data, 3).weights_digest, once);
}

TEST(Workers, OneThatSendsAllIsOneAlone) {
  const FashionMnist data = test::toy_data(100, 20);
  for (const std::string& name : arithmetics) {
    const Recipe alone = test::toy_recipe(name);
    const std::string expected = train(alone, short_options(2), data, 1).weights_digest;
    Recipe dense = alone;
    dense.clip_norm = 1e8;  // never reached
    EXPECT_EQ(train(dense, short_options(2), data, 1).weights_digest, expected) << name;
    // Without factor masking a velocity that is sent in every step is momentum SGD.
    Recipe all = alone;
    all.compression = {.sparsity = 0, .momentum = 0.9, .warm_up = {}, .sample = 1, .factor_masking = false};
    EXPECT_EQ(train(all, short_options(2), data, 1).weights_digest, expected) << name;
    all.compression->factor_masking = true;
    EXPECT_NE(train(all, short_options(2), data, 1).weights_digest, expected) << name;
  }
}

// Without batch norms, whose statistics are each worker's.
Network plain_network() {
  return parse_network(R"(
name: plain
image: {channels: 1, height: 8, width: 8}
layers:
  - {kind: linear, name: a, out: 16}
  - {kind: relu}
  - {kind: linear, name: b, out: 10}
)",
                       "plain.yaml");
}

TEST(Workers, FourAreOneWithFourTimesTheBatchUpToRounding) {
  const FashionMnist data = test::toy_data(96, 20);
  const auto weights = [&](int workers, std::int64_t batch, const Recipe& recipe) {
    RunOptions options = short_options(2);
    options.batch = batch;
    Model model(plain_network(), recipe, options.seed);
    workers::LocalGroup group(workers);
    Trainer(model, data, options, nullptr, &group).run({}, {});
    std::vector<float> values;
    for (const Parameter& parameter : model.parameters())
      values.insert(values.end(), parameter.value.values.begin(), parameter.value.values.end());
    return values;
  };
  const Recipe alone = test::toy_recipe("fp32");
  Recipe all = alone;
  all.compression = {.sparsity = 0, .momentum = 0.9, .warm_up = {}, .sample = 1, .factor_masking = false};
  const std::vector<float> expected = weights(1, 24, alone);
  for (const Recipe& recipe : {alone, all}) {
    const std::vector<float> found = weights(4, 6, recipe);
    ASSERT_EQ(found.size(), expected.size());
    double apart = 0;
    double size = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      apart += std::pow(found[i] - expected[i], 2);
      size += std::pow(expected[i], 2);
    }
    EXPECT_LT(std::sqrt(apart / size), 1e-5);
    EXPECT_GT(apart, 0);
  }
}

TEST(Workers, LearnWithFewerBytes) {
  const FashionMnist data = test::toy_data(600, 100);
  const TrainReport dense = train(test::toy_recipe("dense"), short_options(8), data, 4);
  Recipe recipe = compressed("fp32");
  recipe.compression->warm_up = {0.5, 0.75};
  const TrainReport sparse = train(recipe, short_options(8), data, 4);
  EXPECT_GT(dense.history.back().val_accuracy, 0.8);
  EXPECT_GT(sparse.history.back().val_accuracy, 0.8);
  const workers::ExchangeCounts& counts = *sparse.exchange;
  EXPECT_EQ(counts.steps, 8 * 25);
  EXPECT_EQ(counts.dense_bytes(), dense.exchange->dense_bytes());
  EXPECT_EQ(counts.vectors.sent_bytes, counts.vectors.dense_bytes);
  EXPECT_GT(counts.matrices.ratio(), 3);
  EXPECT_GT(dense.exchange->sent_bytes(), dense.exchange->dense_bytes());  // losses, too
}

TEST(Workers, AStepWithAGradientThatIsNotFiniteIsSkippedByAll) {
  const FashionMnist data = test::toy_data(100, 20);
  Recipe recipe = compressed("fp8");
  recipe.loss_scale.exponent = 24;
  recipe.loss_scale.dynamic.initial_exponent = 24;
  const TrainReport report = train(recipe, short_options(1), data, 3);
  EXPECT_GT(report.history[0].skipped_steps, 0);
  EXPECT_EQ(report.exchange->steps, report.history[0].steps - report.history[0].skipped_steps);
  EXPECT_LT(report.history[0].loss_exponent, 24);
}

TEST(Workers, ALossThatIsNotFiniteNamesTheWorker) {
  const FashionMnist data = test::toy_data(100, 20);
  RunOptions options = short_options(2);
  options.training.learning_rate = 1e30;
  std::string said;
  try {
    train(compressed("fp32"), options, data, 3);
  } catch (const Diverged& diverged) {
    said = diverged.what();
  }
  EXPECT_EQ(said.substr(0, 8), "worker 0") << said;
  EXPECT_NE(said.find(": loss is not finite at step "), std::string::npos) << said;
}

class WorkersGoOn : public testing::Test {
 protected:
  WorkersGoOn() {
    options_ = short_options(3);
    options_.checkpoint = scratch_.path() + "/c.safetensors";
  }
  // With a checkpoint at every step up to the one where it stops.
  TrainReport run(const Recipe& recipe, int workers, std::int64_t stop_after, bool resume) {
    struct Stop {};
    Model model(test::toy_network(), recipe, options_.seed);
    workers::LocalGroup group(workers);
    options_.checkpoint_steps = stop_after > 0 ? 1 : 1000;
    Trainer trainer(model, data_, options_, nullptr, &group);
    if (resume) trainer.resume();
    try {
      return trainer.run(
          [=](std::int64_t done, std::int64_t, const std::string&) {
            if (done == stop_after) throw Stop{};
          },
          {});
    } catch (const Stop&) {
      return trainer.report();
    }
  }

  Scratch scratch_;
  FashionMnist data_ = test::toy_data(72, 10);
  RunOptions options_;
};

TEST_F(WorkersGoOn, WithTheSameBitsFromAnyStep) {
  for (const std::string name : {"fp32", "lognormal-sparse"}) {
    for (const Recipe& recipe : {test::toy_recipe(name), compressed(name)}) {
      const TrainReport whole = run(recipe, 3, -1, false);
      for (const std::int64_t stop : {1, 4, 11}) {
        run(recipe, 3, stop, false);
        const TrainReport rest = run(recipe, 3, -1, true);
        EXPECT_EQ(rest.weights_digest, whole.weights_digest) << name << " " << stop;
        EXPECT_EQ(rest.exchange->sent_bytes(), whole.exchange->sent_bytes());
        EXPECT_EQ(rest.exchange->steps, whole.exchange->steps);
        EXPECT_EQ(rest.history.back().val_loss, whole.history.back().val_loss);
      }
    }
  }
}

TEST_F(WorkersGoOn, OneAloneHasSomethingUnsent) {
  const TrainReport whole = run(compressed("fp32"), 1, -1, false);
  run(compressed("fp32"), 1, 5, false);
  EXPECT_EQ(run(compressed("fp32"), 1, -1, true).weights_digest, whole.weights_digest);
}

TEST_F(WorkersGoOn, ACheckpointOfOthersIsRefused) {
  run(compressed("fp32"), 3, 5, false);
  EXPECT_NE(refusal([&] {
              run(compressed("fp32"), 2, -1, true);
            }).find("c.safetensors: it belongs to another run: its workers is 3, not 2"),
            std::string::npos);
  const std::string good = mantissa::test::contents(options_.checkpoint);
  const auto complaint = [&](const std::string& pointer, const std::string& value) {
    std::ofstream(options_.checkpoint, std::ios::binary) << good;
    test::edit_checkpoint(options_.checkpoint, [&](nlohmann::json& state) {
      ASSERT_TRUE(state.contains(nlohmann::json::json_pointer(pointer))) << pointer;
      state.at(nlohmann::json::json_pointer(pointer)) = nlohmann::json::parse(value);
    });
    return refusal([&] { run(compressed("fp32"), 3, -1, true); });
  };
  for (const char* key : {"steps", "control", "matrices/dense", "matrices/sent", "vectors/dense"}) {
    for (const char* value : {"-1", "1.5", "\"1\"", "null", "18446744073709551615"}) {
      const std::string said = complaint("/workers/exchange/" + std::string(key), value);
      EXPECT_NE(said.find("c.safetensors: the checkpoint is damaged: workers: exchange"), std::string::npos)
          << said;
    }
  }
  for (const char* value : {"[]", "7", "null", "{}"}) {
    EXPECT_NE(complaint("/workers/others", value).find("damaged: workers: others"), std::string::npos);
    EXPECT_NE(complaint("/workers/others/1/layers", value).find("damaged: workers: worker 2: layers"),
              std::string::npos);
  }
  EXPECT_NE(complaint("/workers/others/0/layers/0/counts/errors/elements", "-1")
                .find("workers: worker 1: layer 0: counts: errors: elements"),
            std::string::npos);
}

TEST(Workers, RefuseASetThatIsSmallerThanABatchForEach) {
  const FashionMnist data = test::toy_data(40, 10);
  RunOptions options = test::toy_options(1);
  options.batch = 11;
  EXPECT_EQ(refusal([&] { train(compressed("fp32"), options, data, 4); }),
            "40 images are less than a batch of 11 for each of 4 workers; choose at least 44 images, a "
            "smaller --batch or fewer workers");
  options.batch = 10;
  EXPECT_EQ(refusal([&] { train(compressed("fp32"), options, data, 4); }), "(accepted)");
}

}  // namespace
}  // namespace mantissa::train
