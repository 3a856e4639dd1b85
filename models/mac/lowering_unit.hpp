// lowering_unit: for each k of a run and each lane, a row of A or a column of B, which element of which line
// of the buffer is due, or that it is padding (ARITHMETIC.md 7, "Addresses").
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace mantissa {

struct LoweringUnitSize {
  int lanes = 16;
  int window = 16;  // k per window, and
  int port = 4;     // k per beat, as the array takes them
  int line_bits = 16;
  int element_bits = 16;
  int length_bits = 16;

  std::uint32_t line_mask() const { return static_cast<std::uint32_t>((std::uint64_t{1} << line_bits) - 1); }
  std::uint32_t element_mask() const {
    return static_cast<std::uint32_t>((std::uint64_t{1} << element_bits) - 1);
  }
};

// Where a lane or the walk stands, or a step of the walk. A unit takes the low bits of all numbers: those of
// lines for `line` and `y`, those of elements for `element` and `x`.
struct LoweringPlace {
  std::uint32_t line = 0;
  std::uint32_t y = 0;
  std::uint32_t element = 0;
  std::uint32_t x = 0;
  friend bool operator==(const LoweringPlace&, const LoweringPlace&) = default;
};

// What does not change in a run.
struct LoweringSetup {
  struct Lane {
    bool used = false;
    LoweringPlace place = {};
  };
  enum Step { inner, middle, outer };

  std::vector<Lane> lanes;             // as many as the unit has
  std::array<LoweringPlace, 3> steps;  // of the walk; the inner one has no line and no y
  std::uint32_t inner_last = 0;        // of elements
  std::uint32_t middle_first = 0;      // of lines
  std::uint32_t middle_last = 0;
  std::uint32_t height = 1;  // of the image: y and x beyond it are padding
  std::uint32_t width = 1;
  std::uint32_t length = 1;  // of k; at least one
};

class LoweringUnit {
 public:
  struct Address {
    bool read = false;  // no: a zero
    std::uint32_t line = 0;
    std::uint32_t element = 0;
    friend bool operator==(const Address&, const Address&) = default;
  };

  explicit LoweringUnit(const LoweringUnitSize& size) : size_(size), places_(size.port) {}

  // In no run, or with the last beat of one.
  void begin(const LoweringSetup& setup);
  // The beat is taken.
  void next();

  bool in_run() const { return count_ > 0; }
  // Of the beat: its number of k, and whether it ends the run.
  int count() const { return count_; }
  bool last() const { return static_cast<std::uint32_t>(count_) == left_; }
  // Where the walk stands at k number `slice` of the beat.
  const LoweringPlace& walk(int slice) const { return places_[slice]; }
  // Of that k.
  Address address(int slice, int lane) const {
    const LoweringSetup::Lane& at = setup_.lanes[lane];
    const LoweringPlace& walk = places_[slice];
    const std::uint32_t y = (at.place.y + walk.y) & size_.line_mask();
    const std::uint32_t x = (at.place.x + walk.x) & size_.element_mask();
    if (!at.used || slice >= count_ || y >= setup_.height || x >= setup_.width) return {};
    return {true, (at.place.line + walk.line) & size_.line_mask(),
            (at.place.element + walk.element) & size_.element_mask()};
  }

 private:
  void lay_beat();
  void step();

  LoweringUnitSize size_;
  LoweringSetup setup_;
  LoweringPlace walk_;       // behind the beat
  std::uint32_t inner_ = 0;  // counters
  std::uint32_t middle_ = 0;
  std::uint32_t left_ = 0;         // of the run, the beat included
  std::uint32_t window_left_ = 0;  // of the window
  int count_ = 0;
  std::vector<LoweringPlace> places_;  // of the walk, in the beat
};

}  // namespace mantissa
