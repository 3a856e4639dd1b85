// Rounds runs of FP32 numbers onto a format, to codes or to the numbers that codes stand for, with the draws
// that the caller gives. What quantize() and drain() are made of.
#pragma once

#include <cstdint>

#include "models/format/convert.hpp"
#include "models/kernels/conversion_grid.hpp"

namespace mantissa::kernels {

// Out is float for values, and std::uint8_t, std::uint16_t or std::uint32_t for codes. One per thread: it
// counts what it meets.
template <class Out>
class RunRounder {
 public:
  RunRounder(const Conversion& how, bool counting);

  // `draw` has one word per number; only a stochastic rounding reads it. Values may go where the numbers come
  // from.
  void operator()(const float* in, const std::uint32_t* draw, Out* out, std::int64_t count);
  const ConversionCounts& counts() const { return counts_; }

 private:
  Conversion how_;
  bool counting_;
  bool vectorised_;
  ConversionGrid grid_ = {};
  EndPatterns ends_ = {};  // of values
  ConversionCounts counts_;
};

extern template class RunRounder<float>;
extern template class RunRounder<std::uint8_t>;
extern template class RunRounder<std::uint16_t>;
extern template class RunRounder<std::uint32_t>;

}  // namespace mantissa::kernels
