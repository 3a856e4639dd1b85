// SPDX-License-Identifier: Apache-2.0
//
// The random generator (ARITHMETIC.md 3): x^32 + x^22 + x^2 + x + 1, Leap steps per draw in one XOR network,
// Draws draws per cycle. rnd_o holds the draws of this cycle, the first in the low word; taking them moves
// the state. Seed 0 is loaded as 1 and raises zero_seed_o until the next load. A load waits until the draws
// on offer are taken; before the first load there are none.

module lfsr #(
  parameter int unsigned Leap  = 16,  // 1..32
  parameter int unsigned Draws = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                valid_i,
  output logic                ready_o,
  input  logic [31:0]         seed_i,

  output logic                valid_o,
  input  logic                ready_i,
  output logic [32*Draws-1:0] rnd_o,
  output logic                zero_seed_o
);

  if (Leap < 1 || Leap > 32) begin : gen_bad_leap
    $error("lfsr: Leap must be 1 to 32");
  end

  localparam logic [31:0] Taps = 32'h8020_0003;

  logic [31:0] state_d, state_q;
  logic        loaded_d, loaded_q;
  logic        zero_seed_d, zero_seed_q;

  always_comb begin
    logic [31:0] state;
    state = state_q;
    for (int unsigned d = 0; d < Draws; d++) begin
      for (int unsigned i = 0; i < Leap; i++) begin
        state = {1'b0, state[31:1]} ^ (state[0] ? Taps : 32'h0);
      end
      rnd_o[32*d+:32] = state;
    end
  end

  always_comb begin
    state_d     = state_q;
    loaded_d    = loaded_q;
    zero_seed_d = zero_seed_q;
    if (valid_i & ready_o) begin
      state_d     = (seed_i == '0) ? 32'h1 : seed_i;
      loaded_d    = 1'b1;
      zero_seed_d = (seed_i == '0);
    end else if (valid_o & ready_i) begin
      state_d = rnd_o[32*Draws-1-:32];
    end
  end

  assign ready_o     = ready_i | ~loaded_q;
  assign valid_o     = loaded_q;
  assign zero_seed_o = zero_seed_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= 32'h1;
      loaded_q    <= 1'b0;
      zero_seed_q <= 1'b0;
    end else begin
      state_q     <= state_d;
      loaded_q    <= loaded_d;
      zero_seed_q <= zero_seed_d;
    end
  end

endmodule
