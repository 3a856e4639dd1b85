#include "sim/train/trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/layer/pruning_plan.hpp"
#include "sim/trace/safetensors_writer.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"
#include "testbench/train/toy.hpp"

namespace mantissa::train {
namespace {

using mantissa::test::refusal;
using mantissa::test::Scratch;

const std::vector<std::string> recipe_names = {"fp32", "fp8", "fp8-hybrid", "int8-rangebn",
                                               "lognormal-sparse"};

TrainReport train(const Recipe& recipe, const RunOptions& options, const FashionMnist& data) {
  Model model(test::toy_network(), recipe, options.seed);
  return Trainer(model, data, options).run({}, {});
}

TEST(Trainer, EveryRecipeLearns) {
  const FashionMnist data = test::toy_data(400, 100);
  for (const std::string& name : recipe_names) {
    Recipe recipe = test::toy_recipe(name);
    recipe.norm.range.channel.chunks = 1;  // channels are too short for more
    // So small a network loses a class for some seeds, in FP32, too.
    constexpr int seeds = 4;
    double accuracy = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      RunOptions options = test::toy_options(6);
      options.seed = seed;
      const TrainReport report = train(recipe, options, data);
      ASSERT_EQ(report.history.size(), 6U);
      EXPECT_LT(report.history.back().train_loss, report.history.front().train_loss / 2) << name;
      EXPECT_EQ(report.history.back().steps, 25) << name;
      accuracy += report.history.back().val_accuracy / seeds;
    }
    EXPECT_GT(accuracy, 0.8) << name;  // a tenth by guessing
  }
}

TEST(Trainer, BitsDependOnTheSeedAndNotOnThreads) {
  const FashionMnist data = test::toy_data(100, 20);
  for (const std::string& name : recipe_names) {
    RunOptions options = test::toy_options(1);
    const std::string once = train(test::toy_recipe(name), options, data).weights_digest;
    options.threads = 3;
    EXPECT_EQ(train(test::toy_recipe(name), options, data).weights_digest, once) << name;
    options.seed = 2;
    EXPECT_NE(train(test::toy_recipe(name), options, data).weights_digest, once) << name;
  }
}

TEST(Trainer, StochasticRoundingFollowsTheArray) {
  const FashionMnist data = test::toy_data(48, 20);
  RunOptions options = test::toy_options(1);
  const std::string small = train(test::toy_recipe("fp8"), options, data).weights_digest;
  options.cols = 8;
  EXPECT_NE(train(test::toy_recipe("fp8"), options, data).weights_digest, small);
}

TEST(Trainer, OrderOfImagesIsAPermutation) {
  std::vector<std::int32_t> order = shuffled(1000, 1, 0);
  EXPECT_NE(order, shuffled(1000, 1, 1));
  EXPECT_NE(order, shuffled(1000, 2, 0));
  EXPECT_EQ(order, shuffled(1000, 1, 0));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
}

TEST(Trainer, GoesOnFromACheckpointAsIfItHadNeverStopped) {
  const FashionMnist data = test::toy_data(100, 30);
  const Scratch scratch;
  for (const std::string& name : recipe_names) {
    Recipe recipe = test::toy_recipe(name);
    recipe.loss_scale.dynamic.growth_interval =
        3;  // it grows before and after the checkpoint, and between two
    RunOptions options = test::toy_options(2);
    const TrainReport whole = train(recipe, options, data);
    options.checkpoint = scratch.path() + "/" + name + ".safetensors";
    options.checkpoint_steps = 5;
    // Stops in the middle of the second epoch, three steps past its checkpoint.
    struct Stop {};
    Model first(test::toy_network(), recipe, options.seed);
    const auto stop = [](std::int64_t done, std::int64_t, const std::string&) {
      if (done == 13) throw Stop{};
    };
    EXPECT_THROW(Trainer(first, data, options).run(stop, {}), Stop);

    Model second(test::toy_network(), recipe, options.seed);
    Trainer trainer(second, data, options);
    trainer.resume();
    std::int64_t steps = 0;
    const TrainReport resumed =
        trainer.run([&](std::int64_t, std::int64_t, const std::string&) { ++steps; }, {});
    EXPECT_EQ(steps, 4) << name;
    EXPECT_EQ(resumed.weights_digest, whole.weights_digest) << name;
    ASSERT_EQ(resumed.history.size(), whole.history.size());
    for (std::size_t i = 0; i < whole.history.size(); ++i) {
      EXPECT_EQ(resumed.history[i].train_loss, whole.history[i].train_loss) << name;
      EXPECT_EQ(resumed.history[i].val_loss, whole.history[i].val_loss) << name;
      EXPECT_EQ(resumed.history[i].sparsity, whole.history[i].sparsity) << name;
      EXPECT_EQ(resumed.history[i].target_sparsity, whole.history[i].target_sparsity) << name;
    }
    EXPECT_EQ(resumed.loss_scale, whole.loss_scale);
    ASSERT_EQ(resumed.conversions.size(), whole.conversions.size());
    for (std::size_t i = 0; i < whole.conversions.size(); ++i)
      EXPECT_EQ(resumed.conversions[i].counts, whole.conversions[i].counts) << name;

    // A run that is over has its report once more.
    Model third(test::toy_network(), recipe, options.seed);
    Trainer again(third, data, options);
    again.resume();
    const TrainReport repeated = again.run({}, {});
    EXPECT_EQ(repeated.weights_digest, whole.weights_digest);
    ASSERT_EQ(repeated.gradients.size(), whole.gradients.size());
    EXPECT_FALSE(whole.gradients.empty());
    for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
      EXPECT_EQ(repeated.gradients[i].layer, whole.gradients[i].layer);
      EXPECT_EQ(repeated.gradients[i].elements, whole.gradients[i].elements);
      EXPECT_EQ(repeated.gradients[i].sigma, whole.gradients[i].sigma);
      EXPECT_EQ(repeated.gradients[i].ks_lognormal, whole.gradients[i].ks_lognormal);
      EXPECT_EQ(repeated.gradients[i].ks_laplace, whole.gradients[i].ks_laplace);
    }
  }
}

TEST(Trainer, ACheckpointOfAnotherRunIsRefused) {
  const FashionMnist data = test::toy_data(40, 10);
  const Scratch scratch;
  RunOptions options = test::toy_options(1);
  options.checkpoint = scratch.path() + "/c.safetensors";
  train(test::toy_recipe("fp8"), options, data);
  const auto complaint = [&](const std::string& recipe, const RunOptions& other) {
    return refusal([&] {
      Model model(test::toy_network(), test::toy_recipe(recipe), other.seed);
      Trainer(model, data, other).resume();
    });
  };
  EXPECT_EQ(complaint("fp8", options), "(accepted)");
  EXPECT_NE(complaint("fp32", options).find("its recipe is \"fp8\", not \"fp32\""), std::string::npos);
  RunOptions other = options;
  other.seed = 9;
  EXPECT_NE(complaint("fp8", other).find("its seed is 1, not 9"), std::string::npos);
  other = options;
  other.batch = 8;
  EXPECT_NE(complaint("fp8", other).find("batch"), std::string::npos);
  trace::write_safetensors(
      options.checkpoint, {},
      {{"mantissa.checkpoint", R"({"run": {}, "state": {}})"}},  // as before layouts had numbers
      [](const trace::TensorInfo&, std::uint64_t, std::span<float>) {});
  EXPECT_NE(complaint("fp8", options).find("another version of mantissa wrote it (layout 1, not 6)"),
            std::string::npos);
  train(test::toy_recipe("fp8"), options, data);
  std::filesystem::resize_file(options.checkpoint, 300);
  EXPECT_NE(complaint("fp8", options).find("c.safetensors"), std::string::npos);
}

TEST(Trainer, SaysWhereTheFirstNaNStands) {
  const FashionMnist data = test::toy_data(100, 10);
  RunOptions options = test::toy_options(3);
  options.training.learning_rate = 1e30;
  try {
    train(test::toy_recipe("fp32"), options, data);
    FAIL() << "a learning rate of 1e30 should not train";
  } catch (const Diverged& diverged) {
    const std::string what = diverged.what();
    EXPECT_NE(what.find("loss is not finite at step "), std::string::npos) << what;
    EXPECT_NE(what.find("Inf or NaN in second.output"), std::string::npos) << what;
  }
}

TEST(Trainer, AValidationThatIsNoNumberIsADivergedRun) {
  const FashionMnist data = test::toy_data(100, 10);
  RunOptions options = test::toy_options(1);
  // One step of training, whose weights the validation is the first to see.
  options.batch = 100;
  options.training.learning_rate = 1e40;
  Model model(test::toy_network(), test::toy_recipe("fp32"), 1);
  try {
    Trainer(model, data, options).run({}, {});
    FAIL() << "infinite weights should not give a loss";
  } catch (const Diverged& diverged) {
    EXPECT_EQ(std::string(diverged.what()),
              "loss is not finite at the validation after step 0; first Inf or NaN in first.weight");
  }
}

TEST(Trainer, PrunesToItsTarget) {
  const FashionMnist data = test::toy_data(400, 20);
  Recipe recipe = test::toy_recipe("lognormal-sparse");
  recipe.exempt_first = recipe.exempt_last = false;
  recipe.pruning->refresh_steps = 1;
  recipe.pruning->feedback = false;
  recipe.pruning->threshold = PruningRule::Threshold::quantile;
  // The threshold of a step comes from the gradient of the step before, which is the same but for the images.
  RunOptions options = test::toy_options(2);
  options.training.learning_rate = 1e-6;
  const TrainReport report = train(recipe, options, data);
  ASSERT_EQ(report.pruned_layers.size(), 5U);
  const std::vector<double>& measured = report.history.back().sparsity;
  ASSERT_EQ(measured.size(), 5U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(measured[i], 0.85, 0.02) << report.pruned_layers[i];
  // Behind a ReLU there may be more zeros than that to begin with; and a threshold is never beyond the
  // largest gradient, where that of ten scores would lie.
  EXPECT_GT(measured[3], 0.82);
  EXPECT_GT(measured[4], 0.8);
}

TEST(Trainer, CountersCorrectTheFit) {
  const FashionMnist data = test::toy_data(400, 20);
  Recipe recipe = test::toy_recipe("lognormal-sparse");
  recipe.pruning->sparsity = recipe.pruning->max_sparsity =
      0.6;  // where a lognormal fits these gradients badly
  RunOptions options = test::toy_options(4);
  options.training.learning_rate = 1e-6;  // the gradients stay as they are
  const auto apart = [&](bool feedback) {
    recipe.pruning->feedback = feedback;
    const EpochReport last = train(recipe, options, data).history.back();
    double sum = 0;
    for (std::size_t i = 0; i < last.sparsity.size(); ++i) {
      EXPECT_NEAR(last.target_sparsity[i], 0.6, 1e-6);
      sum += std::abs(last.sparsity[i] - last.target_sparsity[i]);
    }
    return sum / static_cast<double>(last.sparsity.size());
  };
  const double fit_alone = apart(false);
  const double corrected = apart(true);
  EXPECT_LT(corrected, 0.02);
  EXPECT_LT(corrected, fit_alone / 2);
}

TEST(Trainer, ANetworkThatLearnsIsPrunedToItsTarget) {
  const TrainReport report =
      train(test::toy_recipe("lognormal-sparse"), test::toy_options(4), test::toy_data(400, 20));
  ASSERT_EQ(report.pruned_layers.size(), 3U);
  // Of the first epochs: later there is little left to learn, and most of a batch's gradient comes from one
  // image.
  for (std::size_t epoch = 0; epoch < 2; ++epoch) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(report.history[epoch].sparsity[i], report.history[epoch].target_sparsity[i], 0.06)
          << report.pruned_layers[i] << " in epoch " << epoch;
    }
  }
}

TEST(PruningPlan, AGradientOfZerosLeavesNothingToPrune) {
  const Recipe recipe = test::toy_recipe("lognormal-sparse");
  Model model(test::toy_network(), recipe, 1);
  GemmLayer& layer = *model.gemm_layers().at(1);
  layer.plan().registers.correction = 0.05;  // of better days
  PruningPlan plan(*recipe.pruning);
  plan.look(layer.plan(), std::vector<float>(64), &layer.counts().recent);
  plan.refresh();
  EXPECT_EQ(layer.plan().registers.tau, 0.0);
  EXPECT_EQ(layer.plan().registers.target, 1.0);
}

TEST(Trainer, ThresholdsFollowTheLossScale) {
  const FashionMnist data = test::toy_data(400, 20);
  Recipe recipe = test::toy_recipe("lognormal-sparse");
  recipe.exempt_first = recipe.exempt_last = false;
  recipe.pruning->refresh_steps = 1000;  // the last refresh is that of step 16
  recipe.pruning->feedback = false;
  recipe.pruning->threshold = PruningRule::Threshold::quantile;
  recipe.loss_scale.dynamic = {.initial_exponent = 0, .growth_interval = 2};
  RunOptions options = test::toy_options(1);
  options.training.learning_rate = 1e-6;  // the gradients themselves stay as they are
  const TrainReport report = train(recipe, options, data);
  EXPECT_GE(report.history.back().loss_exponent, 12);
  const std::vector<double>& measured = report.history.back().sparsity;
  ASSERT_EQ(measured.size(), 5U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(measured[i], 0.85, 0.03) << report.pruned_layers[i];
}

TEST(Trainer, DynamicLossScaleBacksOff) {
  const FashionMnist data = test::toy_data(200, 20);
  Recipe recipe = test::toy_recipe("fp8");
  recipe.loss_scale.exponent = 24;
  recipe.loss_scale.dynamic.initial_exponent = 24;
  const TrainReport report = train(recipe, test::toy_options(1), data);
  EXPECT_GT(report.history[0].skipped_steps, 0);
  EXPECT_LT(report.history[0].loss_exponent, 24);
  EXPECT_EQ(static_cast<std::int64_t>(report.loss_scale.size()), 1 + report.history[0].skipped_steps);
}

TEST(Trainer, RefusesWhatDoesNotFitTheData) {
  const FashionMnist data = test::toy_data(40, 10);
  RunOptions options = test::toy_options(1);
  options.images = 41;
  Model model(test::toy_network(), test::toy_recipe("fp32"), 1);
  EXPECT_NE(refusal([&] { Trainer(model, data, options); }).find("the data set has 40"), std::string::npos);
  options.images = 0;
  options.batch = 39;
  Network deeper = test::toy_network();
  const Node norm{.kind = NodeKind::norm, .name = "of-hidden", .input = deeper.nodes.back().input};
  deeper.nodes.back().input = static_cast<int>(deeper.nodes.size());  // the norm's value
  deeper.nodes.insert(deeper.nodes.end() - 1, norm);
  connect(deeper);
  Model normed(deeper, test::toy_recipe("fp32"), 1);
  EXPECT_NE(refusal([&] {
              Trainer(normed, data, options);
            }).find("layer of-hidden cannot normalise the last batch"),
            std::string::npos);
  Network wide = test::toy_network();
  wide.image.width = 9;
  connect(wide);
  Model other(wide, test::toy_recipe("fp32"), 1);
  EXPECT_NE(refusal([&] { Trainer(other, data, test::toy_options(1)); }).find("reads images of 1 x 8 x 9"),
            std::string::npos);
}

}  // namespace
}  // namespace mantissa::train
