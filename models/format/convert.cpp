#include "models/format/convert.hpp"

namespace mantissa {

ConversionCounts& ConversionCounts::operator+=(const ConversionCounts& other) {
  elements += other.elements;
  overflow += other.overflow;
  underflow += other.underflow;
  inexact += other.inexact;
  invalid += other.invalid;
  flushed_to_zero += other.flushed_to_zero;
  return *this;
}

void count(ConversionCounts& counts, std::uint32_t code, const Rounded& result, const Conversion& how) {
  ++counts.elements;
  counts.overflow += result.flags.overflow ? 1 : 0;
  counts.underflow += result.flags.underflow ? 1 : 0;
  counts.inexact += result.flags.inexact ? 1 : 0;
  counts.invalid += result.flags.invalid ? 1 : 0;
  counts.flushed_to_zero += !how.from.is_zero(code) && how.to.is_zero(result.code) ? 1 : 0;
}

}  // namespace mantissa
