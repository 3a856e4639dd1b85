#include "models/mac/arithmetic.hpp"

#include "models/format/convert.hpp"

namespace mantissa {
namespace {

Exact operand(Code code, const ResultSpec& spec, Flags& flags) {
  return decode(spec.flush.input ? flush_subnormal(code.bits, code.format) : code.bits, code.format, flags);
}

Rounded finish(const Exact& value, const ResultSpec& spec, std::uint32_t draw, const Flags& flags) {
  Rounded result = round(value, spec.format, spec.rounding, draw, spec.overflow, spec.flush);
  result.flags |= flags;
  return result;
}

constexpr Code fp32(std::uint32_t bits) { return {bits, formats::fp32}; }

}  // namespace

Rounded add(Code a, Code b, const ResultSpec& spec, std::uint32_t draw) {
  Flags flags;
  const Exact x = operand(a, spec, flags);
  const Exact y = operand(b, spec, flags);
  const Exact sum = add(x, y, flags);
  return finish(sum, spec, draw, flags);
}

Rounded mul(Code a, Code b, const ResultSpec& spec, std::uint32_t draw) {
  Flags flags;
  const Exact x = operand(a, spec, flags);
  const Exact y = operand(b, spec, flags);
  const Exact product = multiply(x, y, flags);
  return finish(product, spec, draw, flags);
}

Rounded fma(Code a, Code b, Code c, const ResultSpec& spec, std::uint32_t draw) {
  Flags flags;
  const Exact x = operand(a, spec, flags);
  const Exact y = operand(b, spec, flags);
  const Exact z = operand(c, spec, flags);
  const Exact product = multiply(x, y, flags);
  const Exact sum = add(product, z, flags);
  return finish(sum, spec, draw, flags);
}

Rounded div(Code a, Code b, const ResultSpec& spec, std::uint32_t draw) {
  Flags flags;
  const Exact x = operand(a, spec, flags);
  const Exact y = operand(b, spec, flags);
  const Exact quotient = divide(x, y, flags);
  return finish(quotient, spec, draw, flags);
}

Rounded fp32_add(std::uint32_t a, std::uint32_t b) { return add(fp32(a), fp32(b), {}); }
Rounded fp32_mul(std::uint32_t a, std::uint32_t b) { return mul(fp32(a), fp32(b), {}); }
Rounded fp32_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return fma(fp32(a), fp32(b), fp32(c), {});
}
Rounded fp32_div(std::uint32_t a, std::uint32_t b) { return div(fp32(a), fp32(b), {}); }

}  // namespace mantissa
