// stochastic_pruner: magnitudes below tau become tau or zero so that the mean stays (ARITHMETIC.md 6; Chmiel
// et al. 2021).
#pragma once

#include <cstdint>
#include <span>

#include "models/format/format.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

struct Pruner {
  Format format = formats::fp32;
  std::uint32_t tau = 0;  // threshold, a code of the format; 0 prunes nothing
  int random_bits = 16;

  // Throws std::invalid_argument unless tau is a finite code >= 0 of the format and random bits are 1..32.
  void check() const;
};

struct Pruned {
  enum class Outcome : std::uint8_t { zero_in, kept, snapped, zero_made };
  std::uint32_t code = 0;
  Outcome outcome = Outcome::zero_in;

  constexpr bool nonzero() const { return outcome == Outcome::kept || outcome == Outcome::snapped; }
  friend constexpr bool operator==(const Pruned&, const Pruned&) = default;
};

// Each element moves one counter.
struct PruneCounts {
  std::uint64_t zeros_in = 0;
  std::uint64_t kept = 0;
  std::uint64_t snapped = 0;
  std::uint64_t zeros_made = 0;

  constexpr std::uint64_t elements() const { return zeros_in + kept + snapped + zeros_made; }
  constexpr std::uint64_t zeros() const { return zeros_in + zeros_made; }
  void add(Pruned::Outcome outcome);
  PruneCounts& operator+=(const PruneCounts& other);
  friend bool operator==(const PruneCounts&, const PruneCounts&) = default;
};

// One element; R is the low random_bits of `draw`. No checks.
Pruned prune(std::uint32_t g, const Pruner& pruner, std::uint32_t draw);

// Throws std::invalid_argument unless the pruner and the draws are sound and the sizes fit; nonzero_bytes may
// be 0.
void check_prune(const Pruner& pruner, const DrawSource& draws, int element_bits, std::size_t in,
                 std::size_t out, std::size_t nonzero_bytes);

// A tensor: element i takes draw i / lanes of lane i mod lanes, whether it needs it or not. `out` may be `g`
// itself. Bit i mod 8 of nonzero[i / 8] is element i's non-zero bit; an empty span asks for none. Element is
// float (fp32 only) or a code: std::uint8_t, std::uint16_t, std::uint32_t.
template <class Element>
PruneCounts prune_tensor(std::span<const Element> g, const Pruner& pruner, const DrawSource& draws,
                         std::span<Element> out, std::span<std::uint8_t> nonzero = {});

}  // namespace mantissa
