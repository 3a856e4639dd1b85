// A dot product in any accumulator (ARITHMETIC.md 4): what one output of a GEMM is, with its flags.
#pragma once

#include <cstdint>
#include <span>

#include "models/format/round.hpp"
#include "models/mac/accumulator.hpp"
#include "models/random/lfsr.hpp"

namespace mantissa {

// An exact product of two codes.
struct DotTerm {
  Exact value;
  int exponent = 0;  // e_a + e_b as coded, not renormalised
};
DotTerm dot_term(std::uint32_t a, const Format& a_format, std::uint32_t b, const Format& b_format,
                 Flags& flags);

// Generators of a stochastic accumulator: `inner` draws per k of a chunk, `outer` per rounding of the result.
struct DotDraws {
  Lfsr inner;
  Lfsr outer;
};

// The accumulator's code after all terms, from `start`, a number or NaN's canonical code. Flags are those of
// all roundings, ORed; those of the terms are the caller's. The accumulator has been checked.
Rounded dot(std::span<const DotTerm> terms, const Accumulator& how, DotDraws& draws, std::uint32_t start = 0);

}  // namespace mantissa
