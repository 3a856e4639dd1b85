#include "models/sparsity/pruner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

#include "models/format/exact.hpp"
#include "models/format/rounding.hpp"

namespace mantissa {
namespace {

std::string hex(std::uint32_t code) {
  std::array<char, 8> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return {digits.data(), end};
}

// |g| * 2^r >= (2^r - R) * tau, exactly: P = floor(2^r |g| / tau) / 2^r without a divider. Both are finite
// and not zero, so both sides are normalised significands: at most 33 bits times 24.
bool goes_up(std::uint32_t g, const Pruner& pruner, std::uint64_t r) {
  const std::uint64_t share = (std::uint64_t{1} << pruner.random_bits) - r;
  Flags none;
  const Exact magnitude = decode(g, pruner.format).scaled(pruner.random_bits);
  const Exact limit = multiply(Exact::integer(false, share, 0), decode(pruner.tau, pruner.format), none);
  return std::tie(magnitude.exponent, magnitude.significand) >= std::tie(limit.exponent, limit.significand);
}

template <class Element>
std::uint32_t code_of(Element element) {
  if constexpr (std::is_same_v<Element, float>) {
    return std::bit_cast<std::uint32_t>(element);
  } else {
    return element;
  }
}

template <class Element>
Element element_of(std::uint32_t code) {
  if constexpr (std::is_same_v<Element, float>) {
    return std::bit_cast<float>(code);
  } else {
    return static_cast<Element>(code);
  }
}

}  // namespace

void check_prune(const Pruner& pruner, const DrawSource& draws, int element_bits, std::size_t in,
                 std::size_t out, std::size_t nonzero_bytes) {
  pruner.check();
  draws.check();
  check_leap(draws.leap, pruner.random_bits);
  if (pruner.format.bits() > element_bits) {
    throw std::invalid_argument("a code of " + pruner.format.name() + " does not fit " +
                                std::to_string(element_bits) + " bits");
  }
  if (in != out || (nonzero_bytes != 0 && nonzero_bytes != (in + 7) / 8)) {
    throw std::invalid_argument("pruning " + std::to_string(in) + " elements does not fit " +
                                std::to_string(out) + " outputs and " + std::to_string(nonzero_bytes) +
                                " bytes of non-zero bits");
  }
}

void Pruner::check() const {
  if ((tau & ~format.code_mask()) != 0 || format.is_nan(tau) || format.is_inf(tau) ||
      (format.is_negative(tau) && !format.is_zero(tau))) {
    throw std::invalid_argument("pruning threshold code " + hex(tau) +
                                " must be finite and not negative in " + format.name());
  }
  if (random_bits < 1 || random_bits > 32) {
    throw std::invalid_argument("the pruner takes 1 to 32 random bits, not " + std::to_string(random_bits));
  }
}

void PruneCounts::add(Pruned::Outcome outcome) {
  switch (outcome) {
    case Pruned::Outcome::zero_in:
      ++zeros_in;
      break;
    case Pruned::Outcome::kept:
      ++kept;
      break;
    case Pruned::Outcome::snapped:
      ++snapped;
      break;
    case Pruned::Outcome::zero_made:
      ++zeros_made;
      break;
  }
}

PruneCounts& PruneCounts::operator+=(const PruneCounts& other) {
  zeros_in += other.zeros_in;
  kept += other.kept;
  snapped += other.snapped;
  zeros_made += other.zeros_made;
  return *this;
}

Pruned prune(std::uint32_t g, const Pruner& pruner, std::uint32_t draw) {
  const Format& format = pruner.format;
  if (format.is_zero(g)) return {0, Pruned::Outcome::zero_in};
  const std::uint32_t tau = pruner.tau & format.magnitude_mask();
  // Codes order magnitudes, and Inf and NaN stand above every number; fnuz's NaN alone does not.
  if ((g & format.magnitude_mask()) >= tau || format.is_nan(g)) return {g, Pruned::Outcome::kept};
  const std::uint64_t r = draw & Rounding::sr(pruner.random_bits).random_mask();
  if (goes_up(g, pruner, r)) return {tau | (g & format.sign_bit()), Pruned::Outcome::snapped};
  return {0, Pruned::Outcome::zero_made};
}

template <class Element>
PruneCounts prune_tensor(std::span<const Element> g, const Pruner& pruner, const DrawSource& draws,
                         std::span<Element> out, std::span<std::uint8_t> nonzero) {
  if (std::is_same_v<Element, float> && pruner.format != formats::fp32) {
    throw std::invalid_argument("float elements are fp32, not " + pruner.format.name());
  }
  check_prune(pruner, draws, 8 * sizeof(Element), g.size(), out.size(), nonzero.size());
  std::fill(nonzero.begin(), nonzero.end(), std::uint8_t{0});
  ElementDraws element_draws(draws);
  PruneCounts counts;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const Pruned result = prune(code_of(g[i]), pruner, element_draws.next());
    counts.add(result.outcome);
    out[i] = element_of<Element>(result.code);
    if (!nonzero.empty() && result.nonzero()) nonzero[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
  }
  return counts;
}

template PruneCounts prune_tensor(std::span<const float>, const Pruner&, const DrawSource&, std::span<float>,
                                  std::span<std::uint8_t>);
template PruneCounts prune_tensor(std::span<const std::uint8_t>, const Pruner&, const DrawSource&,
                                  std::span<std::uint8_t>, std::span<std::uint8_t>);
template PruneCounts prune_tensor(std::span<const std::uint16_t>, const Pruner&, const DrawSource&,
                                  std::span<std::uint16_t>, std::span<std::uint8_t>);
template PruneCounts prune_tensor(std::span<const std::uint32_t>, const Pruner&, const DrawSource&,
                                  std::span<std::uint32_t>, std::span<std::uint8_t>);

}  // namespace mantissa
