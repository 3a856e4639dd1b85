// The skip window cycle by cycle takes the time of the closed form, and every element once, in order.
#include "models/sparsity/skip_window_cycles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace mantissa {
namespace {

using Codes = std::vector<std::uint8_t>;

// One step: A[rows, k], row-major, 0 or 1 each.
struct Step {
  int rows_in_use = 0;
  int k = 0;
  Codes a;
};

Step random_step(std::mt19937_64& engine, const SkipWindow& array) {
  Step step;
  step.rows_in_use = engine() % 3 == 0 ? static_cast<int>(engine() % (array.rows + 1)) : array.rows;
  step.k = 1 + static_cast<int>(engine() % (std::size_t{6} * array.window));
  std::bernoulli_distribution nonzero(static_cast<double>(engine() % 11) / 10);
  step.a.resize(static_cast<std::size_t>(step.rows_in_use) * step.k);
  for (std::uint8_t& element : step.a) element = nonzero(engine) ? 1 : 0;
  return step;
}

SkipBeat beat_at(const SkipWindow& array, const Step& step, int first) {
  const int in_window = array.window - first % array.window;
  const int slices = std::min({array.port, in_window, step.k - first});
  SkipBeat beat{.skip = array.skip, .last = first + slices == step.k};
  for (int k = first; k < first + slices; ++k) {
    std::vector<bool> slice(array.rows);
    for (int row = 0; row < step.rows_in_use; ++row) slice[row] = step.a[row * step.k + k] != 0;
    beat.nonzero.push_back(slice);
  }
  return beat;
}

// Runs a step whose beats come as soon as they are taken; gives the cycles and checks the elements.
std::uint64_t run(SkipWindowCycles& unit, const SkipWindow& array, const Step& step) {
  std::vector<int> k_in_word(static_cast<std::size_t>(array.depth) * array.window, -1);
  std::vector<int> next(array.rows);  // k that the row has come to
  const auto skipped = [&](int row, int k) {
    return array.skip && (row >= step.rows_in_use || step.a[row * step.k + k] == 0);
  };
  std::uint64_t cycles = 0;
  for (int fed = 0;; ++cycles) {
    const bool working = unit.working();
    const SkipWork work = unit.work();
    for (int row = 0; row < array.rows; ++row) {
      while (next[row] < step.k && skipped(row, next[row])) ++next[row];
      if (work.word[row] == SkipWork::nothing) continue;
      EXPECT_EQ(k_in_word[work.word[row]], next[row]) << "row " << row << " cycle " << cycles;
      ++next[row];
    }
    if (fed < step.k && unit.ready()) {
      const SkipBeat beat = beat_at(array, step, fed);
      for (std::size_t i = 0; i < beat.nonzero.size(); ++i) k_in_word[unit.next_word() + i] = fed++;
      unit.advance(beat);
    } else {
      unit.advance();
    }
    if (working && work.last) break;
  }
  for (int row = 0; row < array.rows; ++row) {
    while (next[row] < step.k && skipped(row, next[row])) ++next[row];
    EXPECT_EQ(next[row], step.k) << "row " << row;
  }
  return cycles + 1;
}

TEST(SkipWindowCycles, ClosedFormCycleForCycle) {
  std::mt19937_64 engine(11);
  for (int round = 0; round < 600; ++round) {
    const int depths[] = {1, 2, 4};
    SkipWindow array;
    array.rows = 1 + static_cast<int>(engine() % 16);
    array.window = 2 + static_cast<int>(engine() % 15);
    array.depth = depths[engine() % 3];
    array.port = 1 + static_cast<int>(engine() % 16);
    SkipWindowCycles unit(array);
    for (int i = 0; i < 4; ++i) {
      array.skip = engine() % 4 != 0;
      const Step step = random_step(engine, array);
      const auto counts = nonzero_counts(step.a, formats::e5m2, step.rows_in_use, step.k, array.window);
      EXPECT_EQ(run(unit, array, step), skip_schedule(array, step.k, counts).cycles);
      EXPECT_FALSE(unit.working());
      EXPECT_TRUE(unit.ready());
    }
  }
}

TEST(SkipWindowCycles, RowsWaitForTheBeats) {
  const SkipWindow array{.rows = 1, .window = 2, .depth = 1, .port = 1};
  SkipWindowCycles unit(array);
  unit.advance();
  EXPECT_FALSE(unit.working());
  unit.advance({.nonzero = {{true}}});
  unit.advance();
  EXPECT_FALSE(unit.working());
  EXPECT_EQ(unit.next_word(), 1);
  unit.advance({.nonzero = {{true}}, .last = true});
  EXPECT_FALSE(unit.ready());
  EXPECT_EQ(unit.work(), (SkipWork{{0}, false}));
  unit.advance();
  EXPECT_EQ(unit.work(), (SkipWork{{1}, true}));
  unit.advance();
  EXPECT_TRUE(unit.ready());
}

TEST(SkipWindowCycles, RefusesBeatsThatDoNotFit) {
  const SkipWindow array{.rows = 1, .window = 2, .depth = 1, .port = 2};
  SkipWindowCycles unit(array);
  EXPECT_THROW(unit.advance(SkipBeat{}), std::invalid_argument);
  EXPECT_THROW(unit.advance({.nonzero = {{true}, {true}, {true}}}), std::invalid_argument);
  unit.advance({.nonzero = {{true}}});
  EXPECT_THROW(unit.advance({.nonzero = {{true}, {true}}}), std::invalid_argument);
  unit.advance({.nonzero = {{true}}});
  EXPECT_THROW(unit.advance({.nonzero = {{true}}}), std::logic_error);
  EXPECT_THROW(SkipWindowCycles({.rows = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa
