// SPDX-License-Identifier: Apache-2.0
//
// What every element of an array of integers has (ARITHMETIC.md 4, 7): operand registers, int_mac,
// accumulator register. Part of int_pe and int_block_pe, which say what a sum starts from.
//
// acc_o' = start_i + a_i * b_i, unsigned, modulo 2^AccBits, for operands taken in the cycle before;
// without them acc_o' = start_i. valid_i is a clock enable. wrapped_o: the product that joins the sum
// in this cycle carries out of it.

module int_datapath #(
  parameter int unsigned ABits   = 8,   // 8 or 16
  parameter int unsigned BBits   = 8,   // 8 or 16, not both 16
  parameter int unsigned AccBits = 48
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  input  logic [ABits-1:0]   a_i,
  input  logic [BBits-1:0]   b_i,

  input  logic [AccBits-1:0] start_i,
  output logic [AccBits-1:0] acc_o,
  output logic               wrapped_o
);

  if ((ABits != 8 && ABits != 16) || (BBits != 8 && BBits != 16)) begin : gen_bad_bits
    $error("int_datapath: a and b have 8 or 16 bits");
  end

  if (ABits == 16 && BBits == 16) begin : gen_both_wide
    $error("int_datapath: a and b must not both have 16 bits");
  end

  localparam int unsigned WideBits = (ABits > BBits) ? ABits : BBits;

  logic [ABits-1:0]    a_d, a_q;
  logic [BBits-1:0]    b_d, b_q;
  logic                step_q;  // the operand registers hold a product that is not yet added
  logic [AccBits-1:0]  acc_d, acc_q;
  logic [AccBits-1:0]  sum;
  logic                sum_valid;
  logic                overflow;
  logic [7:0]          narrow;
  logic [WideBits-1:0] wide;
  logic                unused_ready;

  // The factor that may have 16 bits is int_mac's b.
  if (ABits > BBits) begin : gen_wide_a
    assign narrow = b_q;
    assign wide   = a_q;
  end else begin : gen_wide_b
    assign narrow = a_q;
    assign wide   = b_q;
  end

  assign acc_o     = acc_q;
  assign wrapped_o = sum_valid & overflow;

  // What wraps belongs to the tile, which remembers it: each step forgets the one before.
  int_mac #(
    .BWidth (WideBits),
    .AccBits(AccBits)
  ) u_mac (
    .clk_i,
    .rst_ni,
    .valid_i   (step_q),
    .ready_o   (unused_ready),
    .clear_i   (1'b1),
    .a_i       (narrow),
    .b_i       (wide),
    .acc_i     (start_i),
    .valid_o   (sum_valid),
    .ready_i   (1'b1),
    .acc_o     (sum),
    .overflow_o(overflow)
  );

  always_comb begin
    a_d   = a_q;
    b_d   = b_q;
    acc_d = start_i;
    if (valid_i) begin
      a_d = a_i;
      b_d = b_i;
    end
    if (sum_valid) acc_d = sum;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_q    <= '0;
      b_q    <= '0;
      step_q <= 1'b0;
      acc_q  <= '0;
    end else begin
      a_q    <= a_d;
      b_q    <= b_d;
      step_q <= valid_i;
      acc_q  <= acc_d;
    end
  end

endmodule
