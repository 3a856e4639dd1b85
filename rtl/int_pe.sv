// SPDX-License-Identifier: Apache-2.0
//
// An element of int_array (ARITHMETIC.md 4, 7): acc_o' = acc_o + a_i * b_i, unsigned, modulo
// 2^AccBits; latency 2, one step per cycle.
//
// valid_i is a clock enable, and clear_i starts a new sum, both as in fp8_pe: acc_o still shows the
// old sum in the cycle of clear_i and the next. wrapped_o: the product that joins the sum in this
// cycle carries out of it.

module int_pe #(
  parameter int unsigned ABits   = 8,   // 8 or 16
  parameter int unsigned BBits   = 8,   // 8 or 16, not both 16
  parameter int unsigned AccBits = 48
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  input  logic               clear_i,
  input  logic [ABits-1:0]   a_i,
  input  logic [BBits-1:0]   b_i,

  output logic [AccBits-1:0] acc_o,
  output logic               wrapped_o
);

  logic               clear_q;
  logic [AccBits-1:0] start;

  assign start = clear_q ? '0 : acc_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q <= 1'b0;
    end else begin
      clear_q <= clear_i;
    end
  end

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
    .acc_o,
    .wrapped_o
  );

endmodule
