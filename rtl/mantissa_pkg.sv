// SPDX-License-Identifier: Apache-2.0
//
// Names of the encodings that parameters and ports use. A format is four integers: exponent bits,
// mantissa bits, bias and one of the Specials below (ARITHMETIC.md 1).

package mantissa_pkg;

  // Which codes of a format are not numbers.
  localparam int unsigned SpecialsIeee   = 0;  // top exponent: Inf and NaN
  localparam int unsigned SpecialsFn     = 1;  // all ones is NaN, no Inf
  localparam int unsigned SpecialsFinite = 2;  // neither
  localparam int unsigned SpecialsFnuz   = 3;  // NaN is 10..0, no Inf, no negative zero

  // Rounding modes (ARITHMETIC.md 2).
  localparam int unsigned RoundNe = 0;  // to nearest, ties to even
  localparam int unsigned RoundTz = 1;  // toward zero
  localparam int unsigned RoundSr = 2;  // stochastic: up iff fraction + random bits carry
  localparam int unsigned RoundNa = 3;  // to nearest, ties away from zero
  localparam int unsigned RoundNz = 4;  // to nearest, ties toward zero

  localparam int unsigned RoundModes = 5;

  // What the modes are: bit m is mode m's. A tie goes up from an odd number, from an even number;
  // overflow gives the largest finite number, not Inf.
  localparam int unsigned RoundNearest    = (1 << RoundNe) | (1 << RoundNa) | (1 << RoundNz);
  localparam int unsigned RoundTieOddUp   = (1 << RoundNe) | (1 << RoundNa);
  localparam int unsigned RoundTieEvenUp  = 1 << RoundNa;
  localparam int unsigned RoundStopsAtMax = 1 << RoundTz;

  // Exception flags, invalid highest.
  typedef struct packed {
    logic invalid;
    logic divide_by_zero;
    logic overflow;
    logic underflow;
    logic inexact;
  } flags_t;

  // What range_bn_forward does with a channel; elements alone where neither is set.
  typedef struct packed {
    logic elements;    // normalises them
    logic statistics;  // takes mean and inv from them, instead of from the inputs
  } bn_mode_t;

  // What a result of range_bn_forward is. On ports it is logic [1:0]: Yosys 0.23 takes no type of a
  // package inside of a struct, and no cast back to one.
  typedef enum logic [1:0] {
    BnElement = 2'd0,  // y
    BnIndices = 2'd1,  // a chunk's argmax, argmin
    BnSaved   = 2'd2   // mean, inv
  } bn_kind_e;

endpackage
