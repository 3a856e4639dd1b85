// SPDX-License-Identifier: Apache-2.0
//
// An element of the array (ARITHMETIC.md 4, 7): operand registers, fp8_mac's datapath, accumulator register.
// acc_o' = acc_o + a_i * b_i, rounded once to nearest; latency 2, one step per cycle: the loop from
// the accumulator to itself closes in one cycle.
//
// valid_i is a clock enable: without it the operand registers, and one cycle later the accumulator,
// hold. There is no back-pressure: ready_o is always 1, and there is no ready_i, for the sum is
// state that can be read at any time. valid_o says that acc_o has just taken a step.
//
// clear_i starts a new sum from +0 and travels with the operands: with valid_i their product is the
// first of the new sum, without it the sum is +0. acc_o still shows the old sum in that cycle and
// the next, so an array can clear as it drains.

module fp8_pe #(
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
  output logic               ready_o,
  input  logic               clear_i,
  input  logic [AExp+AMan:0] a_i,
  input  logic [BExp+BMan:0] b_i,

  output logic               valid_o,
  output logic [AccW-1:0]    acc_o
);

  logic            clear_q;
  logic [AccW-1:0] acc_q;  // the datapath's
  logic [AccW-1:0] start;

  assign start = clear_q ? '0 : acc_q;
  assign acc_o = acc_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) clear_q <= 1'b0;
    else         clear_q <= clear_i;
  end

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
    .ready_o,
    .a_i,
    .b_i,
    .start_i(start),
    .valid_o,
    .acc_o  (acc_q)
  );

endmodule
