// SPDX-License-Identifier: Apache-2.0
//
// acc_o = acc_i + a_i * b_i, unsigned, modulo 2^AccBits (ARITHMETIC.md 4). Latency PipeStages (0 or 1,
// after the product), one operation per cycle.
//
// overflow_o belongs to the result beside it: it is 1 iff this sum or an earlier one wrapped, back
// to the last operation with clear_i. clear_i forgets what wrapped before its operation, not in it.
// The memory of it moves when a result is taken: it keeps order with the data, and it is stable
// while a result waits.

module int_mac #(
  parameter int unsigned BWidth     = 8,   // 8 or 16
  parameter int unsigned AccBits    = 48,  // of the sum, at most 48
  parameter int unsigned PipeStages = 0
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  output logic               ready_o,
  input  logic               clear_i,
  input  logic [7:0]         a_i,
  input  logic [BWidth-1:0]  b_i,
  input  logic [AccBits-1:0] acc_i,

  output logic               valid_o,
  input  logic               ready_i,
  output logic [AccBits-1:0] acc_o,
  output logic               overflow_o
);

  if (BWidth != 8 && BWidth != 16) begin : gen_bad_b_width
    $error("int_mac: BWidth must be 8 or 16");
  end

  if (AccBits < 8 + BWidth || AccBits > 48) begin : gen_bad_acc_bits
    $error("int_mac: AccBits must hold a product, and be 48 at most");
  end

  if (PipeStages > 1) begin : gen_bad_pipe_stages
    $error("int_mac: PipeStages must be 0 or 1");
  end

  localparam int unsigned ProdW = 8 + BWidth;

  // ---------------------------------------------------------------------------------- multiply
  logic [ProdW-1:0]   product_d, product;
  logic [AccBits-1:0] acc;
  logic               clear;

  assign product_d = ProdW'(a_i) * ProdW'(b_i);

  pipe_reg #(
    .Width (ProdW + AccBits + 1),
    .Enable(PipeStages >= 1)
  ) u_product_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i ({product_d, acc_i, clear_i}),
    .valid_o,
    .ready_i,
    .data_o ({product, acc, clear})
  );

  // --------------------------------------------------------------------------------------- add
  logic wrapped;
  logic sticky_d, sticky_q;

  assign {wrapped, acc_o} = {1'b0, acc} + (AccBits + 1)'(product);
  assign overflow_o       = wrapped | (sticky_q & ~clear);
  assign sticky_d         = (valid_o & ready_i) ? overflow_o : sticky_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sticky_q <= 1'b0;
    end else begin
      sticky_q <= sticky_d;
    end
  end

endmodule
