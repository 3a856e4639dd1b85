// FP32 -> format in rne or rtz as a step function over the FP32 bit patterns: MPFR finds where the result
// changes, so that a sweep over all 2^32 inputs needs no MPFR call per input. (ARITHMETIC.md 2)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/format/convert.hpp"

namespace mantissa::test {

class StepFunction {
 public:
  // One code and one set of flags for every pattern from `first` up to the next segment's.
  struct Segment {
    std::uint32_t first = 0;
    Rounded result;
  };

  // rne and rtz only; every boundary of the format must lie within FP32's range.
  StepFunction(const Format& to, Rounding rounding, Overflow overflow);

  // Ascending; together they cover all 2^32 patterns, NaNs included.
  std::span<const Segment> segments() const { return segments_; }
  Rounded at(std::uint32_t fp32_bits) const;

  // Results of the patterns start, start + stride, ... in ascending order, at the cost of a comparison each.
  class Walk {
   public:
    Walk(const StepFunction& steps, std::uint32_t start);
    // `fp32_bits` must not be below the previous one.
    const Rounded& at(std::uint32_t fp32_bits) {
      while (fp32_bits >= next_) advance();
      return steps_[index_].result;
    }

   private:
    void advance();
    std::uint64_t end_of(std::size_t index) const;
    std::span<const Segment> steps_;
    std::size_t index_;
    std::uint64_t next_;
  };

  // Codes of the consecutive patterns first, first + 1, ...: what a kernel must write for them.
  template <typename Code>
  void codes(std::uint32_t first, std::span<Code> out) const {
    Walk walk(*this, first);
    for (Code& code : out) code = static_cast<Code>(walk.at(first++).code);
  }

 private:
  std::size_t index_of(std::uint32_t fp32_bits) const;
  std::vector<Segment> segments_;
};

}  // namespace mantissa::test
