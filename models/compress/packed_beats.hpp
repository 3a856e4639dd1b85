// zero_packer, zero_unpacker: packed lines in beats of some elements, as the units see them (ARITHMETIC.md
// 13, "Units").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/compress/packed_line.hpp"

namespace mantissa {

// Codes of consecutive elements: 1 to `lanes`.
struct DenseBeat {
  std::vector<std::uint8_t> codes;
  bool last = false;  // of its line
  friend bool operator==(const DenseBeat&, const DenseBeat&) = default;
};

struct PackedBeat {
  std::vector<bool> mask;          // of as many elements; none where only a word is left
  std::vector<std::uint8_t> word;  // up to `lanes` of the non-zero codes, or no word
  bool last = false;
  friend bool operator==(const PackedBeat&, const PackedBeat&) = default;
};

class ZeroPacker {
 public:
  ZeroPacker(int lanes, const LineCode& code) : lanes_(lanes), code_(code) {}

  // What leaves beside this beat.
  PackedBeat push(const DenseBeat& beat);
  // What leaves in the cycle after a line's last beat; nothing if that had room for all.
  std::optional<PackedBeat> flush();

 private:
  std::size_t lanes_;
  LineCode code_;
  std::vector<std::uint8_t> held_;  // codes of the line that wait for their word
};

class ZeroUnpacker {
 public:
  struct Result {
    DenseBeat beat;  // without codes where it is refused
    bool refused = false;
    friend bool operator==(const Result&, const Result&) = default;
  };

  explicit ZeroUnpacker(const LineCode& code) : code_(code) {}

  // Nothing in the rest of a line that is refused. `stray`: a bit of the mask is set beyond the elements.
  std::optional<Result> push(const PackedBeat& beat, bool stray = false);
  // The rest of a refused line is still to come.
  bool swallowing() const { return swallow_; }

 private:
  std::optional<std::vector<std::uint8_t>> take(const PackedBeat& beat);

  LineCode code_;
  std::vector<std::uint8_t> held_;  // codes whose element is still to come
  bool swallow_ = false;
};

// Who fetches for the unpacker: packed lines that lie one behind the other, as beats of up to `lanes`
// elements, each as soon as the bytes that it needs are there.
class PackedLineReader {
 public:
  PackedLineReader(int lanes, const LineCode& code) : lanes_(lanes), code_(code) {}

  // Lines of so many elements each follow. Nothing is left of those before.
  void begin(std::vector<std::int64_t> line_elements);
  // The next beat, if these bytes, the first ones of all lines, have it.
  std::optional<PackedBeat> next(std::span<const std::uint8_t> bytes);
  bool done() const { return line_ == line_elements_.size(); }

 private:
  bool find_codes(std::span<const std::uint8_t> bytes);
  std::int64_t mask_bytes() const { return (line_elements_[line_] + 7) / 8; }

  std::int64_t lanes_;
  LineCode code_;
  std::vector<std::int64_t> line_elements_;
  std::size_t line_ = 0;
  std::int64_t first_byte_ = 0;  // of the line
  std::int64_t elements_ = 0;    // of it that have gone into beats
  std::int64_t fetched_ = 0;     // codes of it
  std::int64_t needed_ = 0;      // by the beats so far
  std::int64_t codes_ = -1;      // that it has; negative: not all of the mask is there yet
};

}  // namespace mantissa
