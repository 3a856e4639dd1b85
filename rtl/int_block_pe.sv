// SPDX-License-Identifier: Apache-2.0
//
// An element of int_block_array (ARITHMETIC.md 7, "Two sets of accumulators"): int_pe's datapath with
// a second sum, the shadow. Its ports are block_pe's, and wrapped_o is int_pe's.

module int_block_pe #(
  parameter int unsigned ABits   = 8,   // 8 or 16
  parameter int unsigned BBits   = 8,   // 8 or 16, not both 16
  parameter int unsigned AccBits = 48
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  input  logic               swap_i,
  input  logic [ABits-1:0]   a_i,
  input  logic [BBits-1:0]   b_i,

  input  logic               shift_i,
  input  logic [AccBits-1:0] sum_i,
  output logic [AccBits-1:0] sum_o,  // the shadow

  output logic               wrapped_o
);

  logic [AccBits-1:0] acc;
  logic [AccBits-1:0] start;

  shadow_sum #(
    .Width(AccBits)
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

  int_datapath #(
    .ABits  (ABits),
    .BBits  (BBits),
    .AccBits(AccBits)
  ) u_datapath (
    .clk_i,
    .rst_ni,
    .valid_i,
    .a_i,
    .b_i,
    .start_i(start),
    .acc_o  (acc),
    .wrapped_o
  );

endmodule
