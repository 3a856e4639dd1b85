// SPDX-License-Identifier: Apache-2.0
//
// What the codes of a beat are (ARITHMETIC.md 7): which elements of A are not zero, and whether a
// zero of A, where zeros are skipped, is skipped against Inf or NaN in B. Part of mac_array and
// block_array.

module beat_codes #(
  parameter  int unsigned Rows      = 16,
  parameter  int unsigned Cols      = 16,
  parameter  int unsigned Port      = 4,
  parameter  int unsigned AExp      = 5,
  parameter  int unsigned AMan      = 2,
  parameter  int unsigned ASpecials = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned BExp      = 5,
  parameter  int unsigned BMan      = 2,
  parameter  int unsigned BSpecials = mantissa_pkg::SpecialsIeee,
  localparam int unsigned AW        = 1 + AExp + AMan,
  localparam int unsigned BW        = 1 + BExp + BMan,
  localparam int unsigned CountW    = $clog2(Port + 1)
) (
  input  logic [Port*Rows*AW-1:0] a_i,      // slice p, row r at p * Rows + r
  input  logic [Port*Cols*BW-1:0] b_i,      // slice p, column c at p * Cols + c
  input  logic [CountW-1:0]       count_i,  // slices in this beat
  input  logic [Rows-1:0]         used_i,   // rows whose zeros count
  input  logic [Cols-1:0]         cols_i,   // columns that they meet

  output logic [Port*Rows-1:0]    nonzero_o,
  output logic                    suppresses_o
);

  logic [Port-1:0] suppresses;
  logic            unused_bits;  // signs, and more of B

  assign unused_bits = (^a_i) ^ (^b_i);

  for (genvar p = 0; p < Port; p++) begin : gen_slice
    logic [Cols-1:0] special;  // Inf or NaN

    for (genvar r = 0; r < Rows; r++) begin : gen_nonzero
      // Either zero is zero, NaN is not: without a negative zero that code is NaN.
      localparam int unsigned Low  = (p * Rows + r) * AW;
      localparam int unsigned Bits = (ASpecials == mantissa_pkg::SpecialsFnuz) ? AW : AW - 1;
      assign nonzero_o[p*Rows+r] = (a_i[Low+:Bits] != '0);
    end

    for (genvar c = 0; c < Cols; c++) begin : gen_special
      localparam int unsigned Low = (p * Cols + c) * BW;
      if (BSpecials == mantissa_pkg::SpecialsIeee) begin : gen_ieee
        assign special[c] = &b_i[Low+BMan+:BExp];
      end else if (BSpecials == mantissa_pkg::SpecialsFn) begin : gen_fn
        assign special[c] = &b_i[Low+:BW-1];
      end else if (BSpecials == mantissa_pkg::SpecialsFnuz) begin : gen_fnuz
        assign special[c] = (b_i[Low+:BW] == {1'b1, {BW - 1{1'b0}}});
      end else begin : gen_finite
        assign special[c] = 1'b0;
      end
    end

    assign suppresses[p] = (CountW'(p) < count_i) & ((special & cols_i) != '0) &
                           ((used_i & ~nonzero_o[p*Rows+:Rows]) != '0);
  end

  assign suppresses_o = (suppresses != '0);

endmodule
