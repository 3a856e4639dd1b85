// lowering_unit: runs of all passes over small layers, and runs of any numbers at all.

#include <algorithm>
#include <memory>

#include "models/mac/lowering.hpp"
#include "models/mac/lowering_setup.hpp"
#include "sim/units/lowering_ports.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

ConvShape random_layer(stimulus::Dice& dice) {
  ConvShape g;
  g.batch = dice.between(1, 3);
  g.in_channels = dice.between(1, 6);
  g.out_channels = dice.between(1, 6);
  for (int side = 0; side < 2; ++side) {
    g.kernel[side] = dice.between(1, 3);
    g.stride[side] = dice.between(1, 3);
    g.padding[side] = dice.between(0, 2);
    g.dilation[side] = dice.between(1, 2);
    const std::int64_t span = g.dilation[side] * (g.kernel[side] - 1) + 1;
    g.in[side] = std::max<std::int64_t>(1, span - 2 * g.padding[side]) + dice.between(0, 6);
  }
  g.out = g.fitting_out();
  return g;
}

// `count` of `of`, from the first one on.
struct Part {
  std::int64_t first, count;
};
Part random_part(stimulus::Dice& dice, std::int64_t of, std::int64_t most) {
  const auto first = static_cast<std::int64_t>(dice.below(of));
  return {first, 1 + static_cast<std::int64_t>(dice.below(std::min(of - first, most)))};
}

class LoweringUnitReference : public StreamReference {
 public:
  explicit LoweringUnitReference(const UnitParameters& parameters) : ports_(parameters) {
    for (int count = 1; count <= ports_.size.port; ++count)
      counts_.push_back(coverage_.declare("beat of " + std::to_string(count) + " k"));
    if (ports_.size.port == 1) coverage_.exclude("two wraps in a beat", "a beat is one k");
    if (ports_.size.window % ports_.size.port == 0)
      coverage_.exclude("short beat ends a window", "windows are whole beats");
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    const LoweringSetup setup = ports_.setup(cause);
    const auto used =
        std::count_if(setup.lanes.begin(), setup.lanes.end(), [](const auto& lane) { return lane.used; });
    return {"run of " + std::to_string(setup.length) + " k, " + std::to_string(used) +
            " lanes in use, image " + std::to_string(setup.height) + " x " + std::to_string(setup.width)};
  }
  std::uint64_t operations(const Transaction& inputs) const override {
    return inputs[LoweringPorts::length].value() * static_cast<std::uint64_t>(ports_.size.lanes);
  }

 private:
  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    LoweringSetup setup = index % 2 == 0 ? layer(dice) : anything(dice);
    const auto window = static_cast<std::uint32_t>(ports_.size.window);
    const std::uint32_t lengths[] = {1, window, window + 1, 2 * window};
    if (index < std::size(lengths)) setup.length = lengths[index];
    setup.length = std::clamp(setup.length, 1U, longest());
    // Nobody looks at lanes that are not in use.
    for (LoweringSetup::Lane& lane : setup.lanes) {
      if (!lane.used) lane.place = random_place(dice);
    }
    std::vector<Bits> inputs = ports_.inputs(setup);
    const auto unit = std::make_shared<LoweringUnit>(ports_.size);
    unit->begin(ports_.setup(inputs));
    const std::size_t beats = sample(ports_.setup(inputs));
    add({std::move(inputs), beats, [this, unit](std::size_t) {
           std::vector<Bits> outputs = ports_.outputs(*unit);
           unit->next();
           return outputs;
         }});
  }

  std::uint32_t longest() const {
    return static_cast<std::uint32_t>((std::uint64_t{1} << std::min(ports_.size.length_bits, 12)) - 1);
  }

  // --------------------------------------------------------------------------------------- a layer's run

  LoweringSetup layer(stimulus::Dice& dice) {
    constexpr Pass passes[] = {Pass::forward, Pass::input_gradient, Pass::weight_gradient};
    for (;;) {
      const ConvShape g = random_layer(dice);
      const Pass pass = passes[dice.below(3)];
      const std::vector<PassPhase> phases = phases_of(g, pass);
      const PassPhase& phase = phases[dice.below(phases.size())];
      if (phase.taps_in_all() == 0 || phase.rows_per_image() == 0) continue;
      return run_of(dice, g, pass, phase);
    }
  }

  LoweringSetup run_of(stimulus::Dice& dice, const ConvShape& g, Pass pass, const PassPhase& phase) {
    const PassSides sides = sides_of(g, pass);
    const bool weights = pass == Pass::weight_gradient;
    const bool a = dice.below(2) == 0;
    const Part units = random_part(dice,
                                   weights                 ? g.batch * g.out[0]
                                   : pass == Pass::forward ? g.in_channels
                                                           : g.out_channels,
                                   weights ? 20 : 3);
    const Part rows = random_part(dice, weights ? sides.m : g.batch * phase.rows_per_image(), lanes());
    const auto first_lane = static_cast<int>(dice.below(std::min<std::int64_t>(lanes(), 3)));
    const Part cols = random_part(dice, sides.n, lanes() - first_lane);
    const LoweredRun run{.first_unit = units.first,
                         .units = units.count,
                         .row0 = rows.first,
                         .rows = rows.count,
                         .col0 = cols.first,
                         .cols = cols.count,
                         .line_row = weights ? static_cast<std::int64_t>(dice.below(rows.first + 1)) : 0};
    coverage_.hit(operands_[2 * static_cast<int>(pass) + (a ? 0 : 1)]);
    return a ? lowering_setup_a(g, pass, phase, run, ports_.size.lanes)
             : lowering_setup_b(g, pass, phase, run, ports_.size.lanes, first_lane);
  }

  std::int64_t lanes() const { return ports_.size.lanes; }

  // --------------------------------------------------------------------------------------- any numbers

  LoweringPlace random_place(stimulus::Dice& dice) const {
    return {dice.bits(32), dice.bits(32), dice.bits(32), dice.bits(32)};
  }

  LoweringSetup anything(stimulus::Dice& dice) const {
    LoweringSetup setup;
    setup.lanes.resize(ports_.size.lanes);
    for (LoweringSetup::Lane& lane : setup.lanes) lane = {dice.below(8) != 0, random_place(dice)};
    for (LoweringPlace& step : setup.steps) step = random_place(dice);
    // Counters that seldom wrap, or often.
    const auto counter = [&dice] {
      return dice.below(4) == 0 ? dice.bits(32) : static_cast<std::uint32_t>(dice.below(5));
    };
    setup.inner_last = counter();
    setup.middle_first = counter();
    setup.middle_last = counter();
    setup.height = dice.bits(32);
    setup.width = dice.bits(32);
    setup.length = dice.below(256) == 0 ? dice.bits(32) % longest() : dice.bits(5);
    return setup;
  }

  // ---------------------------------------------------------------------------------------------- bins

  // The number of beats.
  std::size_t sample(const LoweringSetup& setup) {
    std::uint32_t inner = 0;
    std::uint32_t middle = setup.middle_first;
    coverage_.hit_if(middle != 0, middle_begins_later_);
    LoweringUnit unit(ports_.size);
    std::size_t beats = 0;
    std::uint32_t k = 0;
    for (unit.begin(setup); unit.in_run(); unit.next(), ++beats) {
      int wraps = 0;
      for (int slice = 0; slice < unit.count(); ++slice) {
        sample_lanes(setup, unit, slice);
        if (inner++ != setup.inner_last) continue;
        inner = 0;
        ++wraps;
        coverage_.hit(middle == setup.middle_last ? outer_ : middle_);
        middle = middle == setup.middle_last ? 0 : (middle + 1) & ports_.size.line_mask();
      }
      coverage_.hit_if(wraps > 1, two_wraps_);
      k += static_cast<std::uint32_t>(unit.count());
      coverage_.hit(counts_[unit.count() - 1]);
      const bool ends_window = k % static_cast<std::uint32_t>(ports_.size.window) == 0;
      coverage_.hit_if(ends_window && !unit.last(), window_ends_);
      coverage_.hit_if(ends_window && unit.count() < ports_.size.port, short_window_);
      coverage_.hit_if(unit.last(), ends_window ? run_ends_with_window_ : run_ends_);
    }
    return beats;
  }

  void sample_lanes(const LoweringSetup& setup, const LoweringUnit& unit, int slice) {
    for (int lane = 0; lane < ports_.size.lanes; ++lane) {
      const LoweringSetup::Lane& at = setup.lanes[lane];
      if (!at.used) {
        coverage_.hit(unused_);
        continue;
      }
      const bool y = ((at.place.y + unit.walk(slice).y) & ports_.size.line_mask()) >= setup.height;
      const bool x = ((at.place.x + unit.walk(slice).x) & ports_.size.element_mask()) >= setup.width;
      coverage_.hit(y && x ? both_outside_ : y ? y_outside_ : x ? x_outside_ : inside_);
    }
  }

  LoweringPorts ports_;
  std::vector<int> counts_;
  std::vector<int> operands_{
      coverage_.declare("A of the forward pass"),    coverage_.declare("B of the forward pass"),
      coverage_.declare("A of the input gradient"),  coverage_.declare("B of the input gradient"),
      coverage_.declare("A of the weight gradient"), coverage_.declare("B of the weight gradient")};
  int middle_begins_later_ = coverage_.declare("middle begins behind 0");
  int middle_ = coverage_.declare("middle step");
  int outer_ = coverage_.declare("outer step");
  int two_wraps_ = coverage_.declare("two wraps in a beat");
  int window_ends_ = coverage_.declare("beat ends a window");
  int short_window_ = coverage_.declare("short beat ends a window");
  int run_ends_ = coverage_.declare("beat ends the run");
  int run_ends_with_window_ = coverage_.declare("beat ends the run and a window");
  int unused_ = coverage_.declare("lane not in use");
  int inside_ = coverage_.declare("element read");
  int y_outside_ = coverage_.declare("padding along y");
  int x_outside_ = coverage_.declare("padding along x");
  int both_outside_ = coverage_.declare("padding along both");
};

}  // namespace

UnitKind lowering_unit_kind() {
  return {
      .name = "lowering_unit",
      .module = "lowering_unit",
      .what =
          "address generator: which element of which line each row of A or column of B reads, beat by beat",
      .section = "7, \"Addresses\"",
      .latency =
          "the first beat in the cycle after its run is taken; the next run is taken with the last beat",
      .parameters = {{"Lanes", 16, "rows of A, or columns of B"},
                     {"Window", 16, "k per window, which no beat goes beyond"},
                     {"Port", 4, "k per beat, 1 to Window"},
                     {"LineBits", 16, "bits of lines, and of y in an image, 2 to 32"},
                     {"ElementBits", 16, "bits of elements in a line, and of x in an image, 2 to 32"},
                     {"LengthBits", 16, "bits of a run's length, up to 32"}},
      .ports = {{"used_i", "Lanes", "lanes in use; the others read nothing"},
                {"line_i", "Lanes*LineBits", "of each lane: its line,"},
                {"y_i", "Lanes*LineBits", "its y in the image, modulo 2^LineBits,"},
                {"element_i", "Lanes*ElementBits", "its element,"},
                {"x_i", "Lanes*ElementBits", "and its x"},
                {"line_steps_i", "2*LineBits", "what the walk's steps add to the line: middle, outer"},
                {"y_steps_i", "2*LineBits", "to y: middle, outer"},
                {"element_steps_i", "3*ElementBits", "to the element: inner, middle, outer"},
                {"x_steps_i", "3*ElementBits", "to x: inner, middle, outer"},
                {"inner_last_i", "ElementBits", "last value of the inner counter, which begins at 0"},
                {"middle_first_i", "LineBits", "where the middle counter begins in this run, and"},
                {"middle_last_i", "LineBits", "its last value"},
                {"height_i", "LineBits", "y from here on is padding"},
                {"width_i", "ElementBits", "x from here on is padding"},
                {"length_i", "LengthBits", "k of the run, at least 1"},
                {"count_o", "clog2(Port+1)", "k of this beat"},
                {"last_o", "1", "the run ends with it"},
                {"read_o", "Port*Lanes", "slice p, lane l at p*Lanes+l: an element is read; 0: it is a zero"},
                {"line_o", "Port*Lanes*LineBits", "its line; 0 where nothing is read"},
                {"element_o", "Port*Lanes*ElementBits", "its element in the line; 0 where nothing is read"}},
      .configurations = {{"5 lanes, beats of 3",
                          {{"Lanes", 5},
                           {"Window", 8},
                           {"Port", 3},
                           {"LineBits", 9},
                           {"ElementBits", 11},
                           {"LengthBits", 8}}},
                         {"16 lanes", {}},
                         {"2 lanes, 32 bits",
                          {{"Lanes", 2},
                           {"Window", 4},
                           {"Port", 1},
                           {"LineBits", 32},
                           {"ElementBits", 32},
                           {"LengthBits", 12}}}},
      .systemc = make_lowering_unit,
      .reference = [](const UnitParameters& p) { return std::make_unique<LoweringUnitReference>(p); },
      .default_transactions = 20000,
  };
}

}  // namespace mantissa::verify
