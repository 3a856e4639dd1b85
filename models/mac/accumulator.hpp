// The accumulator as a design point: format, rounding, and how many products share one rounding.
#pragma once

#include <string>
#include <string_view>

#include "models/format/format.hpp"
#include "models/format/rounding.hpp"

namespace mantissa {

struct Accumulator {
  enum class Kind : std::uint8_t {
    plain,    // one rounding per product
    chunk,    // an inner accumulator over G products, then outer' = round(outer + inner)
    fused,    // acc' = round(acc + exact sum of G products)
    aligned,  // G products and acc aligned to the largest exponent, truncated to b bits below it, summed,
              // truncated
    kulisch,  // exact over all k, rounded once
  };
  Kind kind = Kind::plain;
  Format format = formats::fp32;
  Rounding rounding = Rounding::rne();  // aligned: not used, it truncates
  int group = 1;                        // G of chunk, fused, aligned
  int aligned_bits = 0;                 // b of aligned
  Format inner_format = formats::fp32;  // chunk only
  Rounding inner_rounding = Rounding::rne();

  static constexpr int max_k = 1 << 24;

  // Kind from "plain", "chunk:G", "fused:G", "aligned:G,b", "kulisch"; the inner accumulator of chunk is the
  // outer's. Throws std::invalid_argument with what exists.
  static Accumulator parse(std::string_view kind, const Format& format, Rounding rounding);

  // Products that share a rounding: G (plain: 1, kulisch: all k of them).
  std::int64_t group_of(std::int64_t k) const;
  // Roundings per output that take a draw: J = ceil(K/G) (plain: K, kulisch: 1).
  std::int64_t roundings(std::int64_t k) const;
  bool stochastic() const;
  // One FMA of the host is one step: a plain sum in FP32, rounded rne.
  bool is_fp32_rne() const;

  // Bits of a sum on its way: all that the next product needs. `span` is that of a product, see below.
  int state_bits(int span, std::int64_t k) const;

  std::string kind_name() const;  // parses back
  std::string name() const;       // "fp16 sr:8 chunk:4"

  // Throws std::invalid_argument unless the kind and the roundings exist, every value of the format (and
  // inner format) is an FP32 value, the group is 1..2^24, aligned bits are 1..64 and stochastic roundings
  // have 1..32 random bits.
  void check() const;
};

// Bits from the least product of two subnormals to the sign above the largest (ARITHMETIC.md 4, "Kulisch").
int product_span(const Format& a, const Format& b);
// Bits of growth of a sum of n.
int bits_to_count(std::uint64_t n);

// True iff every finite value of the format is exactly an FP32 value.
bool exact_in_fp32(const Format& format);

}  // namespace mantissa
