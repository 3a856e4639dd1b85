// SPDX-License-Identifier: Apache-2.0
//
// First half of an adder: puts the larger magnitude on top and shifts the smaller one right by the exponent
// difference; what falls off is jammed into bit 0. Combinational. Exact for any rounding that keeps at most
// Frame - 3 bits, if both significands have at most Frame - 1 bits. On equal magnitudes x counts as larger.

module fp_align #(
  parameter int unsigned Frame = 27,
  parameter int unsigned ExpW  = 9
) (
  input  logic             x_neg_i,
  input  logic             x_zero_i,
  input  logic [ExpW-1:0]  x_exp_i,  // signed
  input  logic [Frame-1:0] x_sig_i,  // leading one on top; 0 if zero
  input  logic             y_neg_i,
  input  logic             y_zero_i,
  input  logic [ExpW-1:0]  y_exp_i,
  input  logic [Frame-1:0] y_sig_i,

  output logic             neg_o,       // of the larger
  output logic [ExpW-1:0]  exp_o,       // of the larger
  output logic             subtract_o,
  output logic [ExpW-1:0]  shift_o,     // unsigned
  output logic [Frame-1:0] larger_o,
  output logic [Frame-1:0] aligned_o
);

  logic             x_exp_larger, y_exp_larger;
  logic [ExpW-1:0]  x_minus_y, y_minus_x;
  logic             y_larger;
  logic [Frame-1:0] smaller;
  logic [Frame-1:0] shifted;
  logic             lost;

  // Both differences beside the comparison, not after it.
  assign x_minus_y    = x_exp_i - y_exp_i;
  assign y_minus_x    = y_exp_i - x_exp_i;
  assign x_exp_larger = $signed(x_exp_i) > $signed(y_exp_i);
  assign y_exp_larger = $signed(y_exp_i) > $signed(x_exp_i);
  assign y_larger     = ~y_zero_i & (x_zero_i | y_exp_larger | (~x_exp_larger & (y_sig_i > x_sig_i)));

  assign neg_o      = y_larger ? y_neg_i : x_neg_i;
  assign exp_o      = y_larger ? y_exp_i : x_exp_i;
  assign larger_o   = y_larger ? y_sig_i : x_sig_i;
  assign smaller    = y_larger ? x_sig_i : y_sig_i;
  assign subtract_o = x_neg_i ^ y_neg_i;
  assign shift_o    = y_larger ? y_minus_x : x_minus_y;

  // A shift of Frame or more leaves only the sticky bit.
  assign shifted   = (shift_o >= ExpW'(Frame)) ? '0 : smaller >> shift_o;
  assign lost      = (shift_o >= ExpW'(Frame)) ? (smaller != '0)
                                               : ((smaller & ~({Frame{1'b1}} << shift_o)) != '0);
  assign aligned_o = shifted | Frame'(lost);

endmodule
