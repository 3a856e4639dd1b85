// lowering_unit against the law's worked numbers, and against the lowered matrices: what it reads from lines
// that are laid out here, word by word of the law, is the matrix's element, for every k that is no hole.
#include "models/mac/lowering_unit.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>

#include "models/mac/lowering.hpp"
#include "models/mac/lowering_setup.hpp"

namespace mantissa {
namespace {

using Address = LoweringUnit::Address;

// All addresses of a run, [k][lane], and the lengths of its beats.
struct Walked {
  std::vector<std::vector<Address>> addresses;
  std::vector<int> beats;
};
Walked walk(const LoweringUnitSize& size, const LoweringSetup& setup) {
  LoweringUnit unit(size);
  EXPECT_FALSE(unit.in_run());
  unit.begin(setup);
  Walked walked;
  for (bool last = false; !last; unit.next()) {
    last = unit.last();
    EXPECT_TRUE(unit.in_run());
    walked.beats.push_back(unit.count());
    for (int slice = 0; slice < unit.count(); ++slice) {
      std::vector<Address>& lanes = walked.addresses.emplace_back();
      for (int lane = 0; lane < size.lanes; ++lane) lanes.push_back(unit.address(slice, lane));
    }
    for (int slice = unit.count(); slice < size.port; ++slice) EXPECT_EQ(unit.address(slice, 0), Address{});
  }
  EXPECT_FALSE(unit.in_run());
  return walked;
}

TEST(LoweringUnit, WorkedExample) {
  const ConvShape g{.in_channels = 2, .in = {2, 3}, .out = {3, 4}, .kernel = {2, 2}, .padding = {1, 1}};
  check_conv_shape(g);
  const PassPhase phase = phases_of(g, Pass::forward).front();
  const LoweringUnitSize size{.lanes = 13, .window = 8, .port = 3};
  const Walked walked =
      walk(size, lowering_setup_a(g, Pass::forward, phase, {.units = 2, .rows = 12}, size.lanes));
  EXPECT_EQ(walked.beats, (std::vector<int>{3, 3, 2}));
  const Address none;
  const std::vector<std::vector<Address>> expected = {
      {none, {true, 0, 1}, {true, 1, 2}}, {none, {true, 0, 2}, none},         {none, {true, 1, 1}, none},
      {{true, 0, 0}, {true, 1, 2}, none}, {none, {true, 0, 4}, {true, 1, 5}}, {none, {true, 0, 5}, none},
      {none, {true, 1, 4}, none},         {{true, 0, 3}, {true, 1, 5}, none}};
  ASSERT_EQ(walked.addresses.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::vector<Address>& lanes = walked.addresses[k];
    EXPECT_EQ((std::vector<Address>{lanes[0], lanes[6], lanes[11]}), expected[k]) << k;
    EXPECT_EQ(lanes[12], none) << "a lane that is not in use";
  }
}

TEST(LoweringUnit, WorkedExampleOfAPhase) {
  const ConvShape g{.in = {1, 4}, .out = {1, 2}, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}};
  check_conv_shape(g);
  const std::vector<PassPhase> phases = phases_of(g, Pass::input_gradient);
  const auto lanes_of = [&](std::size_t phase) {
    return walk({.lanes = 2}, lowering_setup_a(g, Pass::input_gradient, phases[phase], {.rows = 2}, 2))
        .addresses;
  };
  EXPECT_EQ(lanes_of(0), (std::vector<std::vector<Address>>{{{true, 0, 0}, {true, 0, 1}}}));
  EXPECT_EQ(lanes_of(1),
            (std::vector<std::vector<Address>>{{{true, 0, 1}, {}}, {{true, 0, 0}, {true, 0, 1}}}));
}

TEST(LoweringUnit, RefusesWhatIsNoRun) {
  LoweringUnit unit({.lanes = 2});
  LoweringSetup setup;
  EXPECT_THROW(unit.begin(setup), std::invalid_argument);
  setup.lanes.resize(2);
  setup.length = 0;
  EXPECT_THROW(unit.begin(setup), std::invalid_argument);
}

// --------------------------------------------------------------------------------------- random passes

struct RandomRun {
  ConvShape g;
  Pass pass = Pass::forward;
  std::int64_t group = 0;
  PassPhase phase;
  LoweredRun run;
};

std::int64_t between(std::mt19937_64& engine, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
}

ConvShape random_shape(std::mt19937_64& engine) {
  ConvShape g;
  g.batch = between(engine, 1, 3);
  g.groups = between(engine, 1, 3);
  g.in_channels = g.groups * between(engine, 1, 3);
  g.out_channels = g.groups * between(engine, 1, 3);
  for (int side = 0; side < 2; ++side) {
    g.kernel[side] = between(engine, 1, 4);
    g.stride[side] = between(engine, 1, 4);
    g.padding[side] = between(engine, 0, 3);
    g.dilation[side] = between(engine, 1, 4);
    const std::int64_t span = g.dilation[side] * (g.kernel[side] - 1) + 1;
    g.in[side] = std::max<std::int64_t>(1, span - 2 * g.padding[side]) + between(engine, 0, 5);
  }
  g.out = g.fitting_out();
  check_conv_shape(g);
  return g;
}

struct Part {
  std::int64_t first, count;
};
Part random_part(std::mt19937_64& engine, std::int64_t of) {
  const std::int64_t first = between(engine, 0, of - 1);
  return {first, between(engine, 1, of - first)};
}

// Nothing where the phase that was drawn has no rows or no taps.
std::optional<RandomRun> random_run(std::mt19937_64& engine) {
  RandomRun made;
  made.g = random_shape(engine);
  constexpr Pass passes[] = {Pass::forward, Pass::input_gradient, Pass::weight_gradient};
  made.pass = passes[engine() % 3];
  made.group = between(engine, 0, made.g.groups - 1);
  const std::vector<PassPhase> phases = phases_of(made.g, made.pass);
  made.phase = phases[engine() % phases.size()];
  const ConvShape& g = made.g;
  const bool weight_gradient = made.pass == Pass::weight_gradient;
  const PassSides sides = sides_of(g, made.pass);
  const std::int64_t all_rows =
      weight_gradient ? sides.m : g.batch * made.phase.places[0] * made.phase.places[1];
  if (all_rows == 0 || made.phase.taps_in_all() == 0) return std::nullopt;
  const Part units = random_part(engine, weight_gradient              ? g.batch * g.out[0]
                                         : made.pass == Pass::forward ? g.in_group()
                                                                      : g.out_group());
  const Part rows = random_part(engine, all_rows);
  const Part cols = random_part(engine, sides.n);
  made.run = {.first_unit = units.first,
              .units = units.count,
              .row0 = rows.first,
              .rows = rows.count,
              .col0 = cols.first,
              .cols = cols.count};
  made.run.line_row = between(engine, 0, rows.first);
  made.run.line_column = cols.first - between(engine, 0, 3);
  made.run.line_channel = between(engine, 0, cols.first / (g.kernel[0] * g.kernel[1]));
  return made;
}

// Lines as the law has them: the tensor's element at place `element` of a line, counted from 0.
std::int64_t element_of_a(const RandomRun& r, std::int64_t line, std::int64_t element) {
  const ConvShape& g = r.g;
  const bool forward = r.pass == Pass::forward;
  const std::array<std::int64_t, 2>& size = forward ? g.in : g.out;
  const std::int64_t image = line / size[0];
  std::int64_t channel = element / size[1];
  channel += r.pass == Pass::weight_gradient ? r.group * g.out_group() + r.run.line_row
             : forward                       ? r.group * g.in_group() + r.run.first_unit
                                             : r.group * g.out_group() + r.run.first_unit;
  const std::int64_t channels = forward ? g.in_channels : g.out_channels;
  return ((image * channels + channel) * size[0] + line % size[0]) * size[1] + element % size[1];
}

std::int64_t element_of_b(const RandomRun& r, std::int64_t line, std::int64_t element) {
  const ConvShape& g = r.g;
  const std::int64_t taps = g.kernel[0] * g.kernel[1];
  if (r.pass == Pass::weight_gradient) {
    const std::int64_t channel = r.group * g.in_group() + r.run.line_channel + element / g.in[1];
    return ((line / g.in[0] * g.in_channels + channel) * g.in[0] + line % g.in[0]) * g.in[1] +
           element % g.in[1];
  }
  EXPECT_EQ(line, 0);
  const std::int64_t column = r.run.line_column + element / (r.run.units * taps);
  const std::int64_t unit = r.run.first_unit + element % (r.run.units * taps) / taps;
  const std::int64_t o = r.pass == Pass::forward ? column : unit;
  const std::int64_t c = r.pass == Pass::forward ? unit : column;
  return ((r.group * g.out_group() + o) * g.in_group() + c) * taps + element % taps;
}

// The matrix's k of the run, ascending, and those of its units that the phase leaves out.
struct Ks {
  std::vector<std::int64_t> visited, holes;
};
Ks ks_of(const RandomRun& r) {
  Ks ks;
  const ConvShape& g = r.g;
  const auto has = [](const std::vector<std::int64_t>& taps, std::int64_t tap) {
    return std::find(taps.begin(), taps.end(), tap) != taps.end();
  };
  for (std::int64_t unit = r.run.first_unit; unit < r.run.first_unit + r.run.units; ++unit) {
    if (r.pass == Pass::weight_gradient) {
      for (std::int64_t ow = 0; ow < g.out[1]; ++ow) ks.visited.push_back(unit * g.out[1] + ow);
      continue;
    }
    for (std::int64_t kr = 0; kr < g.kernel[0]; ++kr) {
      for (std::int64_t kc = 0; kc < g.kernel[1]; ++kc) {
        const bool meets = has(r.phase.taps[0], kr) && has(r.phase.taps[1], kc);
        (meets ? ks.visited : ks.holes).push_back((unit * g.kernel[0] + kr) * g.kernel[1] + kc);
      }
    }
  }
  return ks;
}

// Row of the whole pass.
std::int64_t matrix_row(const RandomRun& r, std::int64_t row) {
  if (r.pass == Pass::weight_gradient) return row;
  const PassPhase& p = r.phase;
  const std::int64_t j = row % p.places[1];
  const std::int64_t i = row / p.places[1] % p.places[0];
  const std::int64_t image = row / (p.places[0] * p.places[1]);
  return (image * p.image[0] + p.first[0] + i * p.stride[0]) * p.image[1] + p.first[1] + j * p.stride[1];
}

// Element 0 is no element.
std::vector<float> numbered(std::int64_t count) {
  std::vector<float> tensor(count);
  std::iota(tensor.begin(), tensor.end(), 1.0F);
  return tensor;
}

float lowered_a(const RandomRun& r, const std::vector<float>& first, std::int64_t m, std::int64_t k) {
  float element = -1;
  lower_a<float>(r.g, r.pass, r.group, {m, m + 1, k, k + 1}, first, 0, std::span(&element, 1), 1);
  return element;
}
float lowered_b(const RandomRun& r, const std::vector<float>& second, std::int64_t k, std::int64_t n) {
  float element = -1;
  lower_b<float>(r.g, r.pass, r.group, {k, k + 1, n, n + 1}, second, 0, std::span(&element, 1), 1);
  return element;
}

struct Seen {
  int padding = 0, read = 0, holes = 0, several_units = 0, phases = 0;
};

void check_a(const RandomRun& r, const LoweringUnitSize& size, const Ks& ks, Seen& seen) {
  const std::vector<float> first = numbered(r.pass == Pass::forward ? r.g.inputs() : r.g.outputs());
  const Walked walked = walk(size, lowering_setup_a(r.g, r.pass, r.phase, r.run, size.lanes));
  ASSERT_EQ(walked.addresses.size(), ks.visited.size());
  for (std::int64_t row = 0; row < r.run.rows; ++row) {
    const std::int64_t m = matrix_row(r, r.run.row0 + row);
    for (std::size_t k = 0; k < ks.visited.size(); ++k) {
      const Address& at = walked.addresses[k][row];
      const float element = at.read ? first.at(element_of_a(r, at.line, at.element)) : 0;
      ASSERT_EQ(element, lowered_a(r, first, m, ks.visited[k])) << "A, row " << row << ", k " << k;
      ++(at.read ? seen.read : seen.padding);
    }
    for (const std::int64_t hole : ks.holes) {
      ASSERT_EQ(lowered_a(r, first, m, hole), 0) << "no hole: " << hole;
      ++seen.holes;
    }
  }
}

void check_b(const RandomRun& r, const LoweringUnitSize& size, int first_lane, const Ks& ks) {
  const std::vector<float> second = numbered(r.pass == Pass::weight_gradient ? r.g.inputs() : r.g.weights());
  const Walked walked = walk(size, lowering_setup_b(r.g, r.pass, r.phase, r.run, size.lanes, first_lane));
  ASSERT_EQ(walked.addresses.size(), ks.visited.size());
  for (int lane = 0; lane < size.lanes; ++lane) {
    const std::int64_t col = lane - first_lane;
    for (std::size_t k = 0; k < ks.visited.size(); ++k) {
      const Address& at = walked.addresses[k][lane];
      if (col < 0 || col >= r.run.cols) {
        ASSERT_FALSE(at.read);
        continue;
      }
      const float element = at.read ? second.at(element_of_b(r, at.line, at.element)) : 0;
      ASSERT_EQ(element, lowered_b(r, second, ks.visited[k], r.run.col0 + col))
          << "B, column " << col << ", k " << k;
    }
  }
}

// Beats end with windows and runs.
void check_beats(const std::vector<int>& beats, const LoweringUnitSize& size, std::int64_t length) {
  std::int64_t k = 0;
  for (const int count : beats) {
    ASSERT_EQ(count, std::min({std::int64_t{size.port}, size.window - k % size.window, length - k}));
    k += count;
  }
  ASSERT_EQ(k, length);
}

TEST(LoweringUnit, ReadsTheLoweredMatrices) {
  std::mt19937_64 engine(61);
  Seen seen;
  int runs[3] = {};
  for (int round = 0; round < 30000; ++round) {
    const std::optional<RandomRun> made = random_run(engine);
    if (!made) continue;
    const RandomRun& r = *made;
    SCOPED_TRACE(std::to_string(round) + ", " + std::string(name_of(r.pass)));
    ++runs[static_cast<int>(r.pass)];
    const int first_lane = static_cast<int>(engine() % 3);
    // Numbers of few bits go round often. Places of these shapes are within -4 .. 300.
    LoweringUnitSize size{.window = 1 + static_cast<int>(engine() % 20),
                          .line_bits = 9 + static_cast<int>(engine() % 24),
                          .element_bits = 12 + static_cast<int>(engine() % 21)};
    size.port = 1 + static_cast<int>(engine() % size.window);
    const Ks ks = ks_of(r);
    seen.several_units += r.run.units > 1 ? 1 : 0;
    seen.phases += r.pass == Pass::input_gradient && r.phase.taps_in_all() > 1 && !ks.holes.empty() ? 1 : 0;
    size.lanes = static_cast<int>(r.run.rows) + first_lane;
    check_a(r, size, ks, seen);
    size.lanes = static_cast<int>(r.run.cols) + first_lane + 1;
    check_b(r, size, first_lane, ks);
    check_beats(walk(size, lowering_setup_b(r.g, r.pass, r.phase, r.run, size.lanes, 0)).beats, size,
                static_cast<std::int64_t>(ks.visited.size()));
    if (HasFatalFailure()) return;
  }
  for (const int count : runs) EXPECT_GT(count, 4000);
  EXPECT_GT(seen.padding, 10000);
  EXPECT_GT(seen.read, 100000);
  EXPECT_GT(seen.holes, 50000);
  EXPECT_GT(seen.several_units, 500);
  EXPECT_GT(seen.phases, 1000);
}

}  // namespace
}  // namespace mantissa
