// SPDX-License-Identifier: Apache-2.0
//
// An element of block_array (ARITHMETIC.md 7, "Two sets of accumulators"): fp8_pe's datapath with a
// second sum, which shadow_sum has.
//
// swap_i travels with the operands, as clear_i does in fp8_pe: with valid_i the product is the first
// that joins the sum that comes in.

module block_pe #(
  parameter  int unsigned AExp      = 5,
  parameter  int unsigned AMan      = 2,
  parameter  int unsigned ABias     = 15,
  parameter  int unsigned ASpecials = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned BExp      = 5,
  parameter  int unsigned BMan      = 2,
  parameter  int unsigned BBias     = 15,
  parameter  int unsigned BSpecials = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned AccExp    = 8,
  parameter  int unsigned AccMan    = 23,
  localparam int unsigned AccW      = 1 + AccExp + AccMan
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  input  logic               swap_i,
  input  logic [AExp+AMan:0] a_i,
  input  logic [BExp+BMan:0] b_i,

  input  logic               shift_i,
  input  logic [AccW-1:0]    sum_i,
  output logic [AccW-1:0]    sum_o  // the shadow
);

  logic [AccW-1:0] acc;
  logic [AccW-1:0] start;
  logic            unused_ready, unused_valid;

  shadow_sum #(
    .Width(AccW)
  ) u_shadow (
    .clk_i,
    .rst_ni,
    .swap_i,
    .acc_i  (acc),
    .start_o(start),
    .shift_i,
    .sum_i,
    .sum_o
  );

  pe_datapath #(
    .AExp     (AExp),
    .AMan     (AMan),
    .ABias    (ABias),
    .ASpecials(ASpecials),
    .BExp     (BExp),
    .BMan     (BMan),
    .BBias    (BBias),
    .BSpecials(BSpecials),
    .AccExp   (AccExp),
    .AccMan   (AccMan)
  ) u_datapath (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o(unused_ready),
    .a_i,
    .b_i,
    .start_i(start),
    .valid_o(unused_valid),
    .acc_o  (acc)
  );

endmodule
