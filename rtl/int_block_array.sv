// SPDX-License-Identifier: Apache-2.0
//
// Rows x Cols output-stationary array of integers with two sets of sums (ARITHMETIC.md 4, 5, 7, "Two
// sets of accumulators"): unsigned products, sums exact modulo 2^AccBits; cycle for cycle as
// block_array, which says how beats, runs and exchanges go.
//
// A zero of A adds nothing, so with skip_i it takes no cycle. What dequantises the sums stands behind
// the array.

module int_block_array #(
  parameter  int unsigned Rows    = 16,
  parameter  int unsigned Cols    = 16,
  parameter  int unsigned Window  = 16,  // as skip_window
  parameter  int unsigned Depth   = 2,
  parameter  int unsigned Port    = 4,
  parameter  int unsigned ABits   = 8,   // 8 or 16
  parameter  int unsigned BBits   = 8,   // 8 or 16, not both 16
  parameter  int unsigned AccBits = 48,  // of a sum, at most 48
  parameter  int unsigned SumRows = 1,   // rows that are exchanged in a cycle, at most Rows
  localparam int unsigned CountW  = $clog2(Port + 1)
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,

  input  logic                            valid_i,
  output logic                            ready_o,
  input  logic [Port*Rows*ABits-1:0]      a_i,      // slice p, row r at p * Rows + r
  input  logic [Port*Cols*BBits-1:0]      b_i,      // slice p, column c at p * Cols + c
  input  logic [CountW-1:0]               count_i,  // slices in this beat, 1..Port
  input  logic [Rows-1:0]                 used_i,   // rows in use
  input  logic                            skip_i,
  input  logic                            last_i,   // this beat ends the run
  input  logic [Cols-1:0]                 cols_i,   // columns enabled
  input  logic                            swap_i,   // and the run its tile

  input  logic                            load_i,   // with valid_o: the rows take sum_i, else 0
  input  logic [SumRows*Cols*AccBits-1:0] sum_i,    // row p of these, column c at p * Cols + c

  output logic                            valid_o,  // rows are exchanged
  output logic [SumRows*Cols*AccBits-1:0] sum_o,    // as sum_i; 0 beyond the last row
  output logic                            last_o,   // the tile's last ones
  output logic                            overflow_o  // a sum of the tile wrapped
);

  // -------------------------------------------------------------------------- the beat's operands
  logic [Port*Rows-1:0]       nonzero;
  logic                       compute;
  logic                       operands_ready;
  logic                       beat_fire;
  logic [Rows-1:0]            enable;
  logic [Rows*ABits-1:0]      a;
  logic [Rows*Cols*BBits-1:0] b;
  logic                       run_end;
  logic [Rows-1:0]            used_d, used_q;  // of the run
  logic [Cols-1:0]            cols_d, cols_q;

  assign ready_o   = operands_ready & compute;
  assign beat_fire = valid_i & ready_o;
  assign used_d    = beat_fire ? used_i : used_q;
  assign cols_d    = beat_fire ? cols_i : cols_q;

  for (genvar i = 0; i < Port * Rows; i++) begin : gen_nonzero
    assign nonzero[i] = used_i[i%Rows] & (a_i[i*ABits+:ABits] != '0);
  end

  array_operands #(
    .Rows  (Rows),
    .Cols  (Cols),
    .Window(Window),
    .Depth (Depth),
    .Port  (Port),
    .AW    (ABits),
    .BW    (BBits)
  ) u_operands (
    .clk_i,
    .rst_ni,
    .valid_i   (valid_i & compute),
    .ready_o   (operands_ready),
    .a_i,
    .b_i,
    .nonzero_i (nonzero),
    .count_i,
    .skip_i,
    .last_i,
    .enable_o  (enable),
    .a_o       (a),
    .b_o       (b),
    .step_end_o(run_end)
  );

  // ------------------------------------------------------------------------------------- exchange
  logic                 swap;
  logic [Rows*Cols-1:0] wrapped;
  logic                 wraps;
  logic                 overflow_d, overflow_q;    // of the tile that is computed
  logic                 exchanged_d, exchanged_q;  // of the one that is exchanged

  array_exchange #(
    .Groups((Rows + SumRows - 1) / SumRows)
  ) u_exchange (
    .clk_i,
    .rst_ni,
    .compute_o  (compute),
    .last_beat_i(beat_fire & last_i),
    .swap_i,
    .run_end_i  (run_end),
    .swap_o     (swap),
    .valid_o,
    .last_o
  );

  // The last products of a tile join their sums in the cycle in which the sets change roles.
  assign wraps       = overflow_q | (wrapped != '0);
  assign overflow_o  = exchanged_q;
  assign overflow_d  = wraps & ~swap;
  assign exchanged_d = swap ? wraps : exchanged_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q      <= '0;
      cols_q      <= '0;
      overflow_q  <= 1'b0;
      exchanged_q <= 1'b0;
    end else begin
      used_q      <= used_d;
      cols_q      <= cols_d;
      overflow_q  <= overflow_d;
      exchanged_q <= exchanged_d;
    end
  end

  // --------------------------------------------------------------------------------- the elements
  logic [Rows*Cols*AccBits-1:0] shadow;
  logic [Rows*Cols*AccBits-1:0] from;
  logic [Rows-1:0]              shift;

  sum_chain #(
    .Rows   (Rows),
    .SumRows(SumRows),
    .Width  (Cols * AccBits)
  ) u_chain (
    .valid_i (valid_o),
    .last_i  (last_o),
    .load_i,
    .sum_i,
    .sum_o,
    .shadow_i(shadow),
    .shift_o (shift),
    .from_o  (from)
  );

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    for (genvar c = 0; c < Cols; c++) begin : gen_col
      int_block_pe #(
        .ABits  (ABits),
        .BBits  (BBits),
        .AccBits(AccBits)
      ) u_pe (
        .clk_i,
        .rst_ni,
        .valid_i  (enable[r] & used_q[r] & cols_q[c]),
        .swap_i   (swap),
        .a_i      (a[r*ABits+:ABits]),
        .b_i      (b[(r*Cols+c)*BBits+:BBits]),
        .shift_i  (shift[r]),
        .sum_i    (from[(r*Cols+c)*AccBits+:AccBits]),
        .sum_o    (shadow[(r*Cols+c)*AccBits+:AccBits]),
        .wrapped_o(wrapped[r*Cols+c])
      );
    end
  end

endmodule
