// The C API: handles and checks around the golden models. No exception crosses it.
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

#include "models/capi/mantissa.h"
#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_mac.hpp"
#include "models/quantize/quantizer.hpp"
#include "models/random/stream.hpp"
#include "models/sparsity/pruner.hpp"

namespace {

using namespace mantissa;

thread_local std::string last_error;

// Runs `body`, which returns the status; an exception becomes -1 and the thread's error text.
template <typename Body>
int guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    try {
      last_error = error.what();
    } catch (...) {
      last_error.clear();
    }
  } catch (...) {
    last_error.clear();
  }
  return -1;
}

// A format handle is the format itself, packed; so there is no table, no lock, and nothing to release.
constexpr int handle_of(const Format& format) {
  return format.exponent_bits | (format.mantissa_bits << 4) | (static_cast<int>(format.specials) << 9) |
         ((format.bias - Format::min_bias) << 11) | (1 << 21);
}

Format format_of(int handle) {
  const Format format{handle & 15, (handle >> 4) & 31, ((handle >> 11) & 1023) + Format::min_bias,
                      static_cast<Specials>((handle >> 9) & 3)};
  const bool valid = handle > 0 && handle_of(format) == handle && format.exponent_bits >= 2 &&
                     format.exponent_bits <= 8 && format.mantissa_bits <= 23 &&
                     format.bias <= Format::max_bias;
  if (!valid) {
    throw std::invalid_argument(std::to_string(handle) +
                                " is not a format handle; mantissa_format() gives them");
  }
  return format;
}

// A rounding handle: mode in the high bits, random bits below.
constexpr int handle_of(Rounding rounding) {
  return (static_cast<int>(rounding.mode) << 8) | rounding.random_bits;
}

Rounding rounding_of(int handle) {
  try {
    const Rounding rounding{rounding_mode(handle >> 8), handle & 255};
    rounding.check();
    return rounding;
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(std::to_string(handle) +
                                " is not a rounding handle; mantissa_rounding() gives them");
  }
}

Overflow overflow_of(int overflow) {
  if (overflow == MANTISSA_IEEE) return Overflow::ieee;
  if (overflow == MANTISSA_SATURATE) return Overflow::saturate;
  throw std::invalid_argument("overflow mode " + std::to_string(overflow) +
                              " is unknown; use MANTISSA_IEEE or MANTISSA_SATURATE");
}

void check_scale(int scale) {
  if (scale < min_quantizer_scale || scale > max_quantizer_scale) {
    throw std::invalid_argument("scale " + std::to_string(scale) + " is out of range; it must be -128..127");
  }
}

void check_code(std::uint32_t code, const Format& format) {
  if (code > format.code_mask()) {
    throw std::invalid_argument("code " + std::to_string(code) + " is out of range; " + format.name() +
                                " goes up to " + std::to_string(format.code_mask()));
  }
}

void check_random(std::uint32_t r, Rounding rounding) {
  if (rounding.stochastic() && r > rounding.random_mask()) {
    throw std::invalid_argument("random number " + std::to_string(r) + " is out of range; " +
                                rounding.name() + " goes up to " + std::to_string(rounding.random_mask()));
  }
}

template <typename T>
T& required(T* result) {
  if (result == nullptr) throw std::invalid_argument("the pointer for a result is NULL");
  return *result;
}

const char* required_name(const char* name) {
  if (name == nullptr) throw std::invalid_argument("the name is NULL");
  return name;
}

int deliver(const Rounded& rounded, unsigned int* result, unsigned int* flags) {
  required(result) = rounded.code;
  if (flags != nullptr) *flags = rounded.flags.bits();
  return 0;
}

Code checked(unsigned int code, int format) {
  const Code operand{code, format_of(format)};
  check_code(operand.bits, operand.format);
  return operand;
}

ResultSpec result_spec(int format, int rounding, int overflow, unsigned int r) {
  const ResultSpec spec{
      .format = format_of(format), .rounding = rounding_of(rounding), .overflow = overflow_of(overflow)};
  check_random(r, spec.rounding);
  return spec;
}

}  // namespace

extern "C" {

const char* mantissa_version(void) { return MANTISSA_VERSION; }
const char* mantissa_last_error(void) { return last_error.c_str(); }

int mantissa_format(const char* name) {
  return guarded([&] { return handle_of(Format::parse(required_name(name))); });
}

int mantissa_format_bits(int format) {
  return guarded([&] { return format_of(format).bits(); });
}

int mantissa_rounding(const char* name) {
  return guarded([&] { return handle_of(Rounding::parse(required_name(name))); });
}

int mantissa_encode(int format, int rounding, int overflow, double value, unsigned int r, unsigned int* code,
                    unsigned int* flags) {
  return guarded([&] {
    const ResultSpec spec = result_spec(format, rounding, overflow, r);
    return deliver(round(Exact::from_double(value), spec.format, spec.rounding, r, spec.overflow), code,
                   flags);
  });
}

int mantissa_decode(int format, unsigned int code, double* value) {
  return guarded([&] {
    const Code operand = checked(code, format);
    required(value) = to_double(operand.bits, operand.format);
    return 0;
  });
}

int mantissa_convert(int from_format, int to_format, int rounding, int overflow, int scale, unsigned int code,
                     unsigned int r, unsigned int* result, unsigned int* flags) {
  return guarded([&] {
    const Code operand = checked(code, from_format);
    const ResultSpec spec = result_spec(to_format, rounding, overflow, r);
    check_scale(scale);
    const Conversion how{.from = operand.format,
                         .to = spec.format,
                         .rounding = spec.rounding,
                         .overflow = spec.overflow,
                         .scale = scale};
    return deliver(convert(operand.bits, how, r), result, flags);
  });
}

int mantissa_mac(int a_format, int b_format, int acc_format, int rounding, unsigned int a, unsigned int b,
                 unsigned int acc, unsigned int r, unsigned int* result, unsigned int* flags) {
  return guarded([&] {
    const MacConfig config{.a = checked(a, a_format).format,
                           .b = checked(b, b_format).format,
                           .acc = checked(acc, acc_format).format,
                           .rounding = rounding_of(rounding)};
    check_random(r, config.rounding);
    check_exact_product(config.a, config.b);
    return deliver(fp8_mac(a, b, acc, config, r), result, flags);
  });
}

int mantissa_add(int a_format, int b_format, int to_format, int rounding, int overflow, unsigned int a,
                 unsigned int b, unsigned int r, unsigned int* result, unsigned int* flags) {
  return guarded([&] {
    return deliver(
        add(checked(a, a_format), checked(b, b_format), result_spec(to_format, rounding, overflow, r), r),
        result, flags);
  });
}

int mantissa_mul(int a_format, int b_format, int to_format, int rounding, int overflow, unsigned int a,
                 unsigned int b, unsigned int r, unsigned int* result, unsigned int* flags) {
  return guarded([&] {
    return deliver(
        mul(checked(a, a_format), checked(b, b_format), result_spec(to_format, rounding, overflow, r), r),
        result, flags);
  });
}

int mantissa_div(int a_format, int b_format, int to_format, int rounding, int overflow, unsigned int a,
                 unsigned int b, unsigned int r, unsigned int* result, unsigned int* flags) {
  return guarded([&] {
    return deliver(
        div(checked(a, a_format), checked(b, b_format), result_spec(to_format, rounding, overflow, r), r),
        result, flags);
  });
}

int mantissa_fma(int a_format, int b_format, int c_format, int to_format, int rounding, int overflow,
                 unsigned int a, unsigned int b, unsigned int c, unsigned int r, unsigned int* result,
                 unsigned int* flags) {
  return guarded([&] {
    return deliver(fma(checked(a, a_format), checked(b, b_format), checked(c, c_format),
                       result_spec(to_format, rounding, overflow, r), r),
                   result, flags);
  });
}

int mantissa_lfsr_next(unsigned int state, int leap, unsigned int* next) {
  return guarded([&] {
    required(next) = Lfsr(state, leap).draw();
    return 0;
  });
}

int mantissa_lfsr_draw(unsigned int seed, int leap, long long n, unsigned int* state) {
  return guarded([&] {
    if (n < 0)
      throw std::invalid_argument("draw " + std::to_string(n) + " does not exist; draws count from 0");
    Lfsr lfsr(seed, leap);
    lfsr.skip(static_cast<std::uint64_t>(n));
    required(state) = lfsr.draw();
    return 0;
  });
}

int mantissa_lane_seed(long long run_seed, long long stream, long long lane, unsigned int* seed) {
  return guarded([&] {
    required(seed) = lane_seed(static_cast<std::uint64_t>(run_seed), static_cast<std::uint64_t>(stream),
                               static_cast<std::uint64_t>(lane));
    return 0;
  });
}

int mantissa_quantize(int format, int rounding, int overflow, int scale, const float* values,
                      unsigned int* codes, long long n, unsigned int* flags, long long run_seed,
                      long long stream, int lanes, int leap) {
  return guarded([&] {
    if (n < 0) throw std::invalid_argument(std::to_string(n) + " elements make no tensor");
    if (n > 0 && (values == nullptr || codes == nullptr))
      throw std::invalid_argument("values or codes are NULL");
    const Conversion how{.to = format_of(format),
                         .rounding = rounding_of(rounding),
                         .overflow = overflow_of(overflow),
                         .scale = scale};
    const DrawSource draws{.run_seed = static_cast<std::uint64_t>(run_seed),
                           .stream = static_cast<std::uint64_t>(stream),
                           .lanes = lanes,
                           .leap = leap};
    const auto count = static_cast<std::size_t>(n);
    const ConversionCounts met =
        quantize(std::span<const float>(values, count), how, draws, std::span<std::uint32_t>(codes, count));
    if (flags != nullptr) {
      const Flags any{.invalid = met.invalid != 0,
                      .overflow = met.overflow != 0,
                      .underflow = met.underflow != 0,
                      .inexact = met.inexact != 0};
      *flags = any.bits();
    }
    return 0;
  });
}

int mantissa_prune(int format, int random_bits, unsigned int g, unsigned int tau, unsigned int r,
                   unsigned int* result, int* outcome) {
  return guarded([&] {
    const Pruner pruner{
        .format = checked(g, format).format, .tau = checked(tau, format).bits, .random_bits = random_bits};
    pruner.check();
    check_random(r, Rounding::sr(random_bits));
    const Pruned pruned = prune(g, pruner, r);
    required(result) = pruned.code;
    if (outcome != nullptr) *outcome = static_cast<int>(pruned.outcome);
    return 0;
  });
}

}  // extern "C"
