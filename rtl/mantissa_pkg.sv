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

  // Exception flags, invalid highest.
  typedef struct packed {
    logic invalid;
    logic divide_by_zero;
    logic overflow;
    logic underflow;
    logic inexact;
  } flags_t;

  // What range_bn_forward does with a channel (ARITHMETIC.md 8): bit 0 asks for its statistics, bit 1 for
  // normalised elements.
  typedef enum logic [1:0] {
    BnStatistics = 2'b01,  // one pass
    BnNormalise  = 2'b10,  // one pass, with mean and inv given
    BnBoth       = 2'b11   // two passes, the second with the first one's mean and inv
  } bn_mode_e;

  // What a result of range_bn_forward is.
  typedef enum logic [1:0] {
    BnElement = 2'd0,  // y
    BnIndices = 2'd1,  // a chunk's argmax, argmin
    BnSaved   = 2'd2   // mean, inv
  } bn_kind_e;

endpackage
