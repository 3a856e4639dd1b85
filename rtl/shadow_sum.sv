// SPDX-License-Identifier: Apache-2.0
//
// The second sum of an element of block_array or int_block_array (ARITHMETIC.md 7, "Two sets of
// accumulators"): the shadow, which moves from element to element while the first one works.
//
// swap_i travels with the operands: the two sums change places a cycle later, when start_o, what the
// next step adds to, is the sum that comes in. sum_o has the old one two cycles later. shift_i: the
// shadow takes sum_i, a neighbour's; not in the cycle after swap_i.

module shadow_sum #(
  parameter int unsigned Width = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             swap_i,
  input  logic [Width-1:0] acc_i,    // the sum that works
  output logic [Width-1:0] start_o,

  input  logic             shift_i,
  input  logic [Width-1:0] sum_i,
  output logic [Width-1:0] sum_o     // the shadow
);

  logic             swap_q;
  logic [Width-1:0] shadow_d, shadow_q;

  assign start_o = swap_q ? shadow_q : acc_i;
  assign sum_o   = shadow_q;

  always_comb begin
    shadow_d = shadow_q;
    if (shift_i) shadow_d = sum_i;
    if (swap_q) shadow_d = acc_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      swap_q   <= 1'b0;
      shadow_q <= '0;
    end else begin
      swap_q   <= swap_i;
      shadow_q <= shadow_d;
    end
  end

endmodule
