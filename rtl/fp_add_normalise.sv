// SPDX-License-Identifier: Apache-2.0
//
// Second half of an adder: larger +- aligned, then the leading one moves to the top. A carry's lost bit joins
// the sticky bit 0. Combinational, exact in the sense of fp_align. x + (-x) gives +0, zero_o tells.

module fp_add_normalise #(
  parameter int unsigned Frame = 27,
  parameter int unsigned ExpW  = 9
) (
  input  logic [ExpW-1:0]  exp_i,       // of the larger, signed
  input  logic             subtract_i,
  input  logic [Frame-1:0] larger_i,
  input  logic [Frame-1:0] aligned_i,

  output logic [Frame:0]   sum_o,
  output logic             zero_o,
  output logic [ExpW-1:0]  exp_o,       // signed
  output logic [Frame-1:0] sig_o
);

  localparam int unsigned LeadW = $clog2(Frame + 1);

  logic [Frame:0]   addend;
  logic [LeadW-1:0] lead;
  logic [Frame:0]   normalised;

  // One adder for both: the larger one on the left never lets a difference go below zero.
  assign addend = {1'b0, aligned_i} ^ {Frame + 1{subtract_i}};
  assign sum_o  = {1'b0, larger_i} + addend + {{Frame{1'b0}}, subtract_i};
  assign zero_o = (sum_o == '0);

  normalise #(
    .Width(Frame + 1)
  ) u_normalise (
    .in_i   (sum_o),
    .count_o(lead),
    .out_o  (normalised)
  );

  assign sig_o      = {normalised[Frame:2], normalised[1] | normalised[0]};
  assign exp_o      = exp_i + ExpW'(1) - ExpW'(lead);

endmodule
