// The accumulator as a design point: format, rounding, and how many products share one rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/format/format.hpp"
#include "models/format/rounding.hpp"

namespace mantissa {

// What tensor cores do with G products and an accumulator: aligned to the largest exponent, truncated to b
// bits below it, summed, and the sum brought to the accumulator's format.
struct AlignedGroup {
  int group = 1;         // G
  int bits = 0;          // b
  bool nearest = false;  // the sum is rounded to nearest even; else truncated

  // From "G,b" or "G,b,rne"; nothing if it is neither.
  static std::optional<AlignedGroup> parse(std::string_view text);
  std::string name() const;  // "aligned:G,b"
  friend bool operator==(const AlignedGroup&, const AlignedGroup&) = default;
};

struct Accumulator {
  enum class Kind : std::uint8_t {
    plain,    // one rounding per product
    chunk,    // an inner accumulator over G products, then outer' = round(outer + inner)
    fused,    // acc' = round(acc + exact sum of G products)
    aligned,  // acc' = G products and acc, aligned, summed, truncated or rounded
    kulisch,  // exact over all k, rounded once
  };
  // In which order the products of a chunk go into an aligned inner accumulator.
  enum class Order : std::uint8_t {
    ascending,
    pairs,  // those with bit 1 of their number in the chunk clear, then the others
  };
  Kind kind = Kind::plain;
  Format format = formats::fp32;
  Rounding rounding = Rounding::rne();  // aligned: not used
  int group = 1;                        // G of chunk, fused
  AlignedGroup aligned = {};            // aligned only
  // Chunk only. An inner accumulator that is aligned has no use for inner_rounding.
  Format inner_format = formats::fp32;
  Rounding inner_rounding = Rounding::rne();
  std::optional<AlignedGroup> inner = std::nullopt;  // none: one product after the other
  Order order = Order::ascending;

  static constexpr int max_k = 1 << 24;

  // Kind from "plain", "chunk:G", "fused:G", "aligned:G,b", "aligned:G,b,rne", "kulisch"; the inner
  // accumulator of chunk is the outer's. Throws std::invalid_argument with what exists.
  static Accumulator parse(std::string_view kind, const Format& format, Rounding rounding);
  // From "plain", "aligned:G,b", "aligned:G,b,rne": what `inner` is. Throws std::invalid_argument.
  static std::optional<AlignedGroup> parse_inner(std::string_view text);

  // Products that share a rounding: G (plain: 1, kulisch: all k of them).
  std::int64_t group_of(std::int64_t k) const;
  // Roundings per output that take a draw: J = ceil(K/G) (plain: K, kulisch: 1).
  std::int64_t roundings(std::int64_t k) const;
  bool stochastic() const;
  // One FMA of the host is one step: a plain sum in FP32, rounded rne.
  bool is_fp32_rne() const;

  // Bits of a sum on its way: all that the next product needs. `span` is that of a product, see below.
  int state_bits(int span, std::int64_t k) const;

  std::string kind_name() const;   // parses back
  std::string inner_name() const;  // parses back, too
  std::string name() const;        // "fp16 sr:8 chunk:4"

  // Throws std::invalid_argument unless the kind and the roundings exist, every value of the format (and
  // inner format) is an FP32 value, groups are 1..2^24, aligned bits are 1..64, stochastic roundings have
  // 1..32 random bits, and only chunks have an inner accumulator, only aligned ones an order.
  void check() const;
};

// Appends the numbers [first, end) of a chunk's products as its inner accumulator takes them.
void append_chunk(Accumulator::Order order, std::size_t first, std::size_t end,
                  std::vector<std::size_t>& numbers);
// "ascending" or "pairs". Throws std::invalid_argument with what exists.
Accumulator::Order parse_order(std::string_view text);
std::string_view name_of(Accumulator::Order order);

// Bits from the least product of two subnormals to the sign above the largest (ARITHMETIC.md 4, "Kulisch").
int product_span(const Format& a, const Format& b);
// Bits of growth of a sum of n.
int bits_to_count(std::uint64_t n);

// True iff every finite value of the format is exactly an FP32 value.
bool exact_in_fp32(const Format& format);

}  // namespace mantissa
