#include "models/mac/lowering_setup.hpp"

namespace mantissa {
namespace {

// Sides of an image.
constexpr int along_y = 0;
constexpr int along_x = 1;

// Negative numbers count from the other end.
std::uint32_t low(std::int64_t number) { return static_cast<std::uint32_t>(number); }

LoweringPlace place(std::int64_t line, std::int64_t y, std::int64_t element, std::int64_t x) {
  return {low(line), low(y), low(element), low(x)};
}

// What a tap adds to a place of an image. In the input gradient a whole number, for the taps of the phase.
std::int64_t reach(const ConvShape& g, Pass pass, const PassPhase& phase, int side, std::int64_t tap) {
  if (pass == Pass::forward) return tap * g.dilation[side] - g.padding[side];
  return (phase.first[side] + g.padding[side] - tap * g.dilation[side]) / g.stride[side];
}

// From one of the phase's taps to the next: in `value`, any function of a tap.
template <class Value>
std::int64_t between_taps(const PassPhase& phase, int side, const Value& value) {
  const std::vector<std::int64_t>& taps = phase.taps[side];
  return taps.size() < 2 ? 0 : value(taps[1]) - value(taps[0]);
}

// Counts digits of a mixed radix, the last one fastest: places and columns follow each other without a
// division.
struct Digits {
  std::int64_t major, middle, minor;
  std::int64_t middle_size, minor_size;

  Digits(std::int64_t number, std::int64_t middles, std::int64_t minors)
      : major(number / minors / middles),
        middle(number / minors % middles),
        minor(number % minors),
        middle_size(middles),
        minor_size(minors) {}
  void next() {
    if (++minor < minor_size) return;
    minor = 0;
    if (++middle < middle_size) return;
    middle = 0;
    ++major;
  }
};

void begin(LoweringSetup& setup, int lanes, std::int64_t k) {
  setup.lanes.resize(lanes);
  setup.length = low(k);
}

void count_taps(LoweringSetup& setup, const PassPhase& phase) {
  setup.inner_last = low(static_cast<std::int64_t>(phase.taps[along_x].size()) - 1);
  setup.middle_last = low(static_cast<std::int64_t>(phase.taps[along_y].size()) - 1);
}

// A of the forward pass and of the input gradient: places of x or g, which the taps move.
LoweringSetup places_and_taps(const ConvShape& g, Pass pass, const PassPhase& phase, const LoweredRun& run,
                              int lanes) {
  const bool forward = pass == Pass::forward;
  const std::array<std::int64_t, 2>& size = forward ? g.in : g.out;
  LoweringSetup setup;
  begin(setup, lanes, run.units * phase.taps_in_all());
  count_taps(setup, phase);
  setup.height = low(size[along_y]);
  setup.width = low(size[along_x]);

  const auto of = [&](int side) {
    return [&, side](std::int64_t tap) { return reach(g, pass, phase, side, tap); };
  };
  const std::int64_t down = between_taps(phase, along_y, of(along_y));
  const std::int64_t right = between_taps(phase, along_x, of(along_x));
  const std::int64_t up = -down * setup.middle_last;
  const std::int64_t left = -right * setup.inner_last;
  setup.steps = {place(0, 0, right, right), place(down, down, left, left),
                 place(up, up, left + size[along_x], left)};

  const std::int64_t top = of(along_y)(phase.taps[along_y].front());
  const std::int64_t side = of(along_x)(phase.taps[along_x].front());
  Digits row(run.row0, phase.places[along_y], phase.places[along_x]);
  for (std::int64_t lane = 0; lane < run.rows; ++lane, row.next()) {
    const std::int64_t y = row.middle * (forward ? g.stride[along_y] : 1) + top;
    const std::int64_t x = row.minor * (forward ? g.stride[along_x] : 1) + side;
    setup.lanes[lane] = {true, place(row.major * size[along_y] + y, y, x, x)};
  }
  return setup;
}

// B of these passes: columns of weights side by side in one line.
LoweringSetup weights(const ConvShape& g, const PassPhase& phase, const LoweredRun& run, int lanes,
                      int first_lane) {
  LoweringSetup setup;
  begin(setup, lanes, run.units * phase.taps_in_all());
  count_taps(setup, phase);
  const auto tap = [](std::int64_t number) { return number; };
  const std::int64_t right = between_taps(phase, along_x, tap);
  const std::int64_t down = between_taps(phase, along_y, tap) * g.kernel[along_x];
  const std::int64_t left = -right * setup.inner_last;
  const std::int64_t up = -down * setup.middle_last;
  const std::int64_t taps = g.kernel[along_y] * g.kernel[along_x];
  setup.steps = {place(0, 0, right, 0), place(0, 0, down + left, 0), place(0, 0, taps + up + left, 0)};
  const std::int64_t first = phase.taps[along_y].front() * g.kernel[along_x] + phase.taps[along_x].front();
  std::int64_t element = (run.col0 - run.line_column) * run.units * taps + first;
  for (std::int64_t col = 0; col < run.cols; ++col, element += run.units * taps)
    setup.lanes[first_lane + col] = {true, place(0, 0, element, 0)};
  return setup;
}

// A of the weight gradient: g as it lies, its places one after the other.
LoweringSetup gradient(const ConvShape& g, const LoweredRun& run, int lanes) {
  LoweringSetup setup;
  begin(setup, lanes, run.units * g.out[along_x]);
  setup.inner_last = low(g.out[along_x] - 1);
  setup.middle_last = low(run.units - 1);
  setup.steps = {place(0, 0, 1, 0), place(1, 0, 1 - g.out[along_x], 0), place(0, 0, 0, 0)};
  std::int64_t element = (run.row0 - run.line_row) * g.out[along_x];
  for (std::int64_t lane = 0; lane < run.rows; ++lane, element += g.out[along_x])
    setup.lanes[lane] = {true, place(run.first_unit, 0, element, 0)};
  return setup;
}

// B of the weight gradient: taps of x, which the places of g move.
LoweringSetup taps_and_places(const ConvShape& g, const LoweredRun& run, int lanes, int first_lane) {
  LoweringSetup setup;
  begin(setup, lanes, run.units * g.out[along_x]);
  const std::int64_t oh = run.first_unit % g.out[along_y];
  setup.inner_last = low(g.out[along_x] - 1);
  setup.middle_first = low(oh);
  setup.middle_last = low(g.out[along_y] - 1);
  setup.height = low(g.in[along_y]);
  setup.width = low(g.in[along_x]);
  const std::int64_t left = -(g.out[along_x] - 1) * g.stride[along_x];
  const std::int64_t up = -(g.out[along_y] - 1) * g.stride[along_y];
  setup.steps = {place(0, 0, g.stride[along_x], g.stride[along_x]),
                 place(g.stride[along_y], g.stride[along_y], left, left),
                 place(up + g.in[along_y], up, left, left)};
  Digits column(run.col0, g.kernel[along_y], g.kernel[along_x]);
  const std::int64_t first_line = run.first_unit / g.out[along_y] * g.in[along_y];
  for (std::int64_t col = 0; col < run.cols; ++col, column.next()) {
    const std::int64_t y = oh * g.stride[along_y] + column.middle * g.dilation[along_y] - g.padding[along_y];
    const std::int64_t x = column.minor * g.dilation[along_x] - g.padding[along_x];
    setup.lanes[first_lane + col] = {
        true, place(first_line + y, y, (column.major - run.line_channel) * g.in[along_x] + x, x)};
  }
  return setup;
}

}  // namespace

LoweringSetup lowering_setup_a(const ConvShape& geometry, Pass pass, const PassPhase& phase,
                               const LoweredRun& run, int lanes) {
  return pass == Pass::weight_gradient ? gradient(geometry, run, lanes)
                                       : places_and_taps(geometry, pass, phase, run, lanes);
}

LoweringSetup lowering_setup_b(const ConvShape& geometry, Pass pass, const PassPhase& phase,
                               const LoweredRun& run, int lanes, int first_lane) {
  return pass == Pass::weight_gradient ? taps_and_places(geometry, run, lanes, first_lane)
                                       : weights(geometry, phase, run, lanes, first_lane);
}

}  // namespace mantissa
