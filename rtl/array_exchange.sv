// SPDX-License-Identifier: Apache-2.0
//
// When the two sets of sums of block_array change roles, and when the rows of the one that does not
// work are exchanged (ARITHMETIC.md 7, "Two sets of accumulators"). Exact in time: with X(j) as in
// the text, swap_o is 1 in cycle X(j), and valid_o in the Groups cycles from X(j) + 2 on.
//
// Beats of the next tile are taken from cycle X(j) on.

module array_exchange #(
  parameter int unsigned Groups = 16  // of rows that are exchanged in a cycle
) (
  input  logic clk_i,
  input  logic rst_ni,

  output logic compute_o,    // beats are taken
  input  logic last_beat_i,  // one that ends a run is
  input  logic swap_i,       // and the run its tile
  input  logic run_end_i,    // the run's last cycle

  output logic swap_o,
  output logic valid_o,      // a group of rows is exchanged
  output logic last_o        // the last one
);

  localparam int unsigned GroupW = (Groups == 1) ? 1 : $clog2(Groups);

  logic              swap_d, swap_q;    // the run ends its tile
  logic              wait_d, wait_q;    // the tile has ended, the sets have not changed roles
  logic              turn_q;            // the cycle after they did
  logic              valid_d, valid_q;
  logic [GroupW-1:0] group_d, group_q;
  logic              free;

  assign last_o    = (group_q == GroupW'(Groups - 1));
  assign free      = ~turn_q & (~valid_q | last_o);
  assign swap_o    = wait_q & free;
  assign compute_o = ~wait_q | free;
  assign valid_o   = valid_q;

  always_comb begin
    swap_d  = swap_q;
    wait_d  = wait_q & ~free;
    valid_d = turn_q | (valid_q & ~last_o);
    group_d = group_q;
    if (last_beat_i) swap_d = swap_i;
    if (run_end_i & swap_q) wait_d = 1'b1;
    if (valid_q) group_d = last_o ? '0 : group_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      swap_q  <= 1'b0;
      wait_q  <= 1'b0;
      turn_q  <= 1'b0;
      valid_q <= 1'b0;
      group_q <= '0;
    end else begin
      swap_q  <= swap_d;
      wait_q  <= wait_d;
      turn_q  <= swap_o;
      valid_q <= valid_d;
      group_q <= group_d;
    end
  end

endmodule
