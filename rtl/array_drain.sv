// SPDX-License-Identifier: Apache-2.0
//
// The course of a tile in an output-stationary array (ARITHMETIC.md 7, "Tiles and drain"): it takes
// beats until the step that drains has ended, then sends its rows, ascending, one per cycle. Exact
// in time; part of mac_array and int_array.
//
// A row that is taken is cleared. The next tile's beats wait until the last row has left the array.

module array_drain #(
  parameter  int unsigned Rows = 16,
  localparam int unsigned RowW = (Rows == 1) ? 1 : $clog2(Rows)
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  output logic            compute_o,    // beats are taken
  input  logic            last_beat_i,  // one that ends a step is
  input  logic            drain_i,      // and the step its tile
  input  logic            step_end_i,   // the step's last cycle

  output logic            valid_o,      // this row is sent
  input  logic            ready_i,
  output logic [RowW-1:0] row_o,
  output logic            last_o,
  output logic [Rows-1:0] clear_o,      // the row is taken

  input  logic            done_i        // the last row has left
);

  // StCompute takes beats; StSettle: the last products join their sums; StSend one row per cycle;
  // StFlush what stands behind the accumulators.
  typedef enum logic [1:0] {StCompute, StSettle, StSend, StFlush} state_e;
  state_e state_d, state_q;

  logic            drain_d, drain_q;
  logic [RowW-1:0] row_d, row_q;
  logic            row_fire;

  assign compute_o = (state_q == StCompute);
  assign valid_o   = (state_q == StSend);
  assign row_o     = row_q;
  assign last_o    = (row_q == RowW'(Rows - 1));
  assign row_fire  = valid_o & ready_i;

  for (genvar r = 0; r < Rows; r++) begin : gen_clear
    assign clear_o[r] = row_fire & (row_q == RowW'(r));
  end

  always_comb begin
    state_d = state_q;
    drain_d = drain_q;
    row_d   = row_q;
    if (last_beat_i) drain_d = drain_i;
    if (row_fire) row_d = last_o ? '0 : row_q + 1'b1;

    unique case (state_q)
      StCompute: if (step_end_i & drain_q) state_d = StSettle;
      StSettle:  state_d = StSend;
      StSend:    if (row_fire & last_o) state_d = StFlush;
      default: ;  // StFlush
    endcase
    if (done_i) state_d = StCompute;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StCompute;
      drain_q <= 1'b0;
      row_q   <= '0;
    end else begin
      state_q <= state_d;
      drain_q <= drain_d;
      row_q   <= row_d;
    end
  end

endmodule
