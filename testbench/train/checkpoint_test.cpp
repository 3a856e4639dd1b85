// Checkpoints that are damaged, or made up: each is refused with the file's name and the field, in our words.
#include "sim/train/checkpoint.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"
#include "testbench/train/edited_checkpoint.hpp"
#include "testbench/train/toy.hpp"

namespace mantissa::train {
namespace {

using mantissa::test::contents;
using mantissa::test::refusal;
using nlohmann::json;

// A run of three epochs of five steps that prunes and scales its loss; `steps` of them are over.
class Checkpoint : public testing::Test {
 protected:
  Checkpoint() {
    options_.checkpoint = scratch_.path() + "/c.safetensors";
    options_.checkpoint_steps = 1;
    recipe_.loss_scale.kind = LossScaleRule::Kind::dynamic;
    recipe_.loss_scale.dynamic.growth_interval = 4;
  }

  void stop_after(std::int64_t steps) {
    struct Stop {};
    Model model(test::toy_network(), recipe_, options_.seed);
    const auto stop = [=](std::int64_t done, std::int64_t, const std::string&) {
      if (done == steps) throw Stop{};
    };
    try {
      Trainer(model, data_, options_).run(stop, {});
    } catch (const Stop&) {
    }
    good_ = contents(options_.checkpoint);
  }

  // Of a run that goes on to its end.
  std::string complaint() const {
    return refusal([&] {
      Model model(test::toy_network(), recipe_, options_.seed);
      Trainer trainer(model, data_, options_);
      trainer.resume();
    });
  }
  // With another value at a place in its JSON; an empty one takes the place away.
  std::string complaint(const std::string& pointer, const std::string& value) const {
    put(good_);
    test::edit_checkpoint(options_.checkpoint, [&](json& state) {
      const json::json_pointer place(pointer);
      EXPECT_TRUE(state.contains(place)) << pointer;
      if (value.empty()) {
        json& parent = state.at(place.parent_pointer());
        if (parent.is_array()) {
          parent.erase(std::stoul(place.back()));
        } else {
          parent.erase(place.back());
        }
      } else {
        state.at(place) = json::parse(value);
      }
    });
    return complaint();
  }
  void put(const std::string& bytes) const { std::ofstream(options_.checkpoint, std::ios::binary) << bytes; }

  void refuses(const std::string& pointer, const std::string& value, const std::string& field) const {
    const std::string why = complaint(pointer, value);
    const std::string what = pointer + " = " + value + ": " + why;
    EXPECT_NE(why.find(options_.checkpoint + ": "), std::string::npos) << what;
    EXPECT_NE(why.find(field), std::string::npos) << what;
    EXPECT_EQ(why.find("json.exception"), std::string::npos) << what;
  }

  // Every one of `flips` bits, spread over the whole file and chosen by chance, must be noticed.
  void flip_bits(int flips) const {
    std::mt19937_64 engine(1);
    const std::size_t bits = 8 * good_.size();
    for (int i = 0; i < flips; ++i) {
      const std::size_t first = bits * static_cast<std::size_t>(i) / static_cast<std::size_t>(flips);
      const std::size_t bit = std::min(bits - 1, first + engine() % (bits / static_cast<std::size_t>(flips)));
      std::string bad = good_;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      put(bad);
      const std::string why = complaint();
      ASSERT_NE(why, "(accepted)") << "bit " << bit;
      ASSERT_NE(why.find("c.safetensors"), std::string::npos) << why;
      ASSERT_EQ(why.find("json.exception"), std::string::npos) << why;
    }
    put(good_);
    EXPECT_EQ(complaint(), "(accepted)");
  }

  mantissa::test::Scratch scratch_;
  FashionMnist data_ = test::toy_data(72, 10);
  RunOptions options_ = test::toy_options(3);
  Recipe recipe_ = test::toy_recipe("lognormal-sparse");
  std::string good_;
};

TEST_F(Checkpoint, EditedWithoutAChangeItIsTaken) {
  for (const std::int64_t steps : {1, 3, 5, 12, 15}) {
    stop_after(steps);
    test::edit_checkpoint(options_.checkpoint, [](json&) {});
    EXPECT_EQ(contents(options_.checkpoint), good_);
    EXPECT_EQ(complaint(), "(accepted)") << steps;
  }
}

TEST_F(Checkpoint, EveryFieldIsCheckedAgainstTheRun) {
  stop_after(12);
  const std::vector<std::string> no_number = {"\"7\"", "null", "[]", "{}", "true"};
  const auto whole = [&](const std::string& pointer, const std::string& field,
                         std::vector<std::string> values) {
    values.insert(values.end(), no_number.begin(), no_number.end());
    for (const char* value : {"4.7", "1e300", "18446744073709551615", "-9223372036854775808", ""})
      values.emplace_back(value);
    for (const std::string& value : values) refuses(pointer, value, field);
  };
  const auto real = [&](const std::string& pointer, const std::string& field,
                        std::vector<std::string> values) {
    values.insert(values.end(), no_number.begin(), no_number.end());
    values.emplace_back("");
    for (const std::string& value : values) refuses(pointer, value, field);
  };
  whole("/state/step", "step", {"-1", "0", "16", "1000000000"});
  // Within the run, but not where the rest of it stands.
  for (const char* value : {"4", "11", "13"}) refuses("/state/step", value, "state: ");
  whole("/state/counted_steps", "counted_steps", {"-1", "0", "2"});
  whole("/state/loss_scale/0/0", "loss_scale", {"1", "-1"});
  whole("/state/loss_scale/1/0", "loss_scale", {"0", "13"});
  whole("/state/loss_scale/1/1", "loss_scale", {"25", "-15"});
  for (const char* part : {"/state/loss_scale_state/0", "/state/loss_scale_state/1"})
    whole(part, "loss_scale_state", {"-20", "3"});
  whole("/state/loss_scale_state/2", "clean steps", {"-1", "4"});
  for (const std::string epoch : {"/state/epoch", "/state/history/1"}) {
    whole(epoch + "/steps", "steps", {"-1", "4", "6"});
    whole(epoch + "/skipped_steps", "skipped_steps", {"-1", "6"});
    whole(epoch + "/loss_exponent", "loss_exponent", {"-15", "25"});
    for (const char* key : {"train_loss", "train_accuracy", "val_loss", "val_accuracy", "seconds"})
      real(epoch + "/" + key, key, {"-1e-9"});
    for (const char* key : {"sparsity", "target_sparsity"}) {
      for (const char* value : {"[0.5]", "[0.5,0.5,0.5,0.5]", "[2]", "[\"x\"]", "7", "null", ""})
        refuses(epoch + "/" + key, value, value[0] == '[' ? "sparsity" : key);
    }
  }
  refuses("/state/epoch/val_accuracy", "0.5", "epoch");
  refuses("/state/epoch/train_accuracy", "33", "train_accuracy");
  refuses("/state/history/0/val_accuracy", "1.5", "val_accuracy");
  for (const std::string part :
       {"", "run", "state", "state/epoch", "state/history", "state/loss_scale", "state/loss_scale_state",
        "state/gradients", "state/layers", "state/layers/0", "state/layers/0/counts",
        "state/layers/0/counts/pruned", "state/layers/0/counts/errors", "state/layers/0/registers"}) {
    for (const char* value : {"7", "\"x\"", "null", "[7]", "{\"x\":1}"}) {
      const std::string pointer = part.empty() ? "" : "/" + part;
      if (part.empty() && value[0] == '{') continue;  // that is layout 1
      refuses(pointer, value, part == "state/epoch" ? "epoch" : "");
    }
  }
  refuses("/state/history", "[]", "history has 0 epochs");
  refuses("/state/gradients", "[{}]", "gradients has 1 entries");
  refuses("/state/layers/7", "", "layers has 7 entries");
}

TEST_F(Checkpoint, LayersAndGradientsAreChecked) {
  stop_after(15);
  for (const char* value : {"-1", "1.5", "1e300", "\"1\"", "null", "18446744073709551615"}) {
    for (const char* key : {"elements", "overflow", "underflow", "inexact", "invalid", "flushed_to_zero"})
      refuses("/state/layers/1/counts/errors/" + std::string(key), value, key);
    for (const char* key : {"zeros_in", "kept", "snapped", "zeros_made"})
      refuses("/state/layers/1/counts/recent/" + std::string(key), value, key);
    refuses("/state/gradients/0/elements", value, "elements");
    refuses("/state/gradients/0/step", value, "step");
    refuses("/state/gradients/0/zero_share", value, "zero_share");
    refuses("/state/layers/1/registers/target", value, "target");
    if (value != std::string("-1"))
      refuses("/state/layers/1/registers/scales/input", value, "scale of input");
  }
  for (const char* key : {"mu", "sigma", "ks_lognormal", "ks_normal", "ks_laplace"}) {
    for (const char* value : {"1e300", "null", "\"1\"", "-111", ""})
      refuses("/state/gradients/0/" + std::string(key), value, key);
  }
  refuses("/state/gradients/0/layer", "\"second\"", "layer");
  refuses("/state/gradients", "[]", "gradients has 0 entries");
  refuses("/state/layers/0/name", "\"second\"", "name");
  refuses("/state/layers/1/counts/aimed_at", "1e300", "aimed_at");
  refuses("/state/layers/1/counts/aimed_at", "-1", "aimed_at");
  refuses("/state/layers/1/registers/tau", "-1", "tau");
  refuses("/state/layers/1/registers/tau", "null", "tau");
  refuses("/state/layers/0/registers", R"({"tau": 1})", "registers: tau");
}

TEST_F(Checkpoint, ARecipeThatDoesNotScaleItsLossHasNoLossScale) {
  recipe_.loss_scale.kind = LossScaleRule::Kind::none;
  stop_after(12);
  refuses("/state/loss_scale", "[[0,3]]", "loss_scale");
  refuses("/state/epoch/loss_exponent", "1", "loss_exponent");
}

TEST_F(Checkpoint, LayoutsAreWholeNumbers) {
  stop_after(1);
  for (const char* value : {"4.7", "-1", "\"6\"", "null", "1e300"}) refuses("/layout", value, "layout");
  EXPECT_NE(complaint("/layout", "5").find("another version of mantissa wrote it (layout 5, not 6)"),
            std::string::npos);
  EXPECT_NE(complaint("/layout", "18446744073709551615").find("(layout 18446744073709551615, not 6)"),
            std::string::npos);
}

TEST_F(Checkpoint, NoFlippedBitGoesUnnoticed) {
  stop_after(12);
  flip_bits(200);
}

using LongCheckpoint = Checkpoint;

TEST_F(LongCheckpoint, NoFlippedBitGoesUnnoticed) {
  stop_after(15);
  flip_bits(2000);
}

TEST_F(Checkpoint, CutShortOrLongerItIsRefused) {
  stop_after(3);
  for (std::size_t size = 0; size < good_.size(); size += 101) {
    put(good_.substr(0, size));
    EXPECT_NE(complaint().find("c.safetensors"), std::string::npos) << size;
  }
  put(good_ + "x");
  EXPECT_NE(complaint(), "(accepted)");
}

}  // namespace
}  // namespace mantissa::train
