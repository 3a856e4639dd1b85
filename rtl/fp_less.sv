// SPDX-License-Identifier: Apache-2.0
//
// less_o = a_i < b_i as IEEE compares (ARITHMETIC.md 8): -0 equals +0, false for a NaN.
// Combinational.

module fp_less #(
  parameter  int unsigned Exp   = 8,
  parameter  int unsigned Man   = 23,
  localparam int unsigned Width = 1 + Exp + Man
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic             less_o
);

  localparam logic [Width-2:0] InfCode = {{Exp{1'b1}}, {Man{1'b0}}};

  logic [Width-2:0] a_mag, b_mag;
  logic             a_neg, b_neg;
  logic             nan, zeros;

  assign {a_neg, a_mag} = a_i;
  assign {b_neg, b_mag} = b_i;
  assign nan            = (a_mag > InfCode) | (b_mag > InfCode);
  assign zeros          = (a_mag == '0) & (b_mag == '0);

  // Magnitudes order as unsigned integers; two negative numbers the other way round.
  always_comb begin
    unique case ({a_neg, b_neg})
      2'b00:   less_o = ~nan & (a_mag < b_mag);
      2'b01:   less_o = 1'b0;
      2'b10:   less_o = ~nan & ~zeros;
      default: less_o = ~nan & (b_mag < a_mag);
    endcase
  end

endmodule
