// SPDX-License-Identifier: Apache-2.0
//
// Rows x Cols output-stationary array of integers (ARITHMETIC.md 4, 5, 7): unsigned products, sums
// exact modulo 2^AccBits; cycle for cycle as mac_array.
//
// In: beats as mac_array takes them. A zero of A adds nothing, so with skip_i it takes no cycle. Rows
// that are not in use hold their registers, whatever their A is.
// Out: the tile's rows, ascending, as sums: what dequantises them stands behind the array. A drain
// takes Rows + PipeLatency cycles, as mac_array's.

module int_array #(
  parameter  int unsigned Rows        = 16,
  parameter  int unsigned Cols        = 16,
  parameter  int unsigned Window      = 16,  // as skip_window
  parameter  int unsigned Depth       = 2,
  parameter  int unsigned Port        = 4,
  parameter  int unsigned ABits       = 8,   // 8 or 16
  parameter  int unsigned BBits       = 8,   // 8 or 16, not both 16
  parameter  int unsigned AccBits     = 48,  // of a sum, at most 48
  parameter  int unsigned DrainStages = 1,   // 0 or 1
  localparam int unsigned CountW      = $clog2(Port + 1),
  // Registers from the selection of a tile's last operand to the C buffer: operands, drain.
  localparam int unsigned PipeLatency = 1 + DrainStages
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [Port*Rows*ABits-1:0] a_i,      // slice p, row r at p * Rows + r
  input  logic [Port*Cols*BBits-1:0] b_i,      // slice p, column c at p * Cols + c
  input  logic [CountW-1:0]          count_i,  // slices in this beat, 1..Port
  input  logic [Rows-1:0]            used_i,   // rows in use
  input  logic                       skip_i,
  input  logic                       last_i,   // this beat ends the step
  input  logic                       drain_i,  // and the step its tile

  output logic                       valid_o,
  input  logic                       ready_i,
  output logic [Cols*AccBits-1:0]    c_o,
  output logic                       last_o,     // this row ends the tile
  output logic                       overflow_o  // a sum of this tile wrapped
);

  if (DrainStages > 1) begin : gen_bad_drain_stages
    $error("int_array: DrainStages must be 0 or 1");
  end

  localparam int unsigned RowW = (Rows == 1) ? 1 : $clog2(Rows);

  // ------------------------------------------------------------------------------------- operands
  logic [Port*Rows-1:0]       nonzero;
  logic                       compute;
  logic                       operands_ready;
  logic                       beat_fire;
  logic [Rows-1:0]            enable;
  logic [Rows*ABits-1:0]      a;
  logic [Rows*Cols*BBits-1:0] b;
  logic                       step_end;
  logic [Rows-1:0]            used_d, used_q;

  for (genvar i = 0; i < Port * Rows; i++) begin : gen_nonzero
    assign nonzero[i] = used_i[i%Rows] & (a_i[i*ABits+:ABits] != '0);
  end

  // With skip_i off a row that is not in use has its cycles like the others.
  assign used_d = beat_fire ? used_i : used_q;

  assign ready_o   = operands_ready & compute;
  assign beat_fire = valid_i & ready_o;

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
    .step_end_o(step_end)
  );

  // --------------------------------------------------------------------------------- the elements
  logic [Rows-1:0]         clear;
  logic [Rows*Cols-1:0]    wrapped;
  logic [Cols*AccBits-1:0] acc_rows [Rows];

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [Cols*AccBits-1:0] acc;

    assign acc_rows[r] = acc;

    for (genvar c = 0; c < Cols; c++) begin : gen_col
      int_pe #(
        .ABits  (ABits),
        .BBits  (BBits),
        .AccBits(AccBits)
      ) u_pe (
        .clk_i,
        .rst_ni,
        .valid_i  (enable[r] & used_q[r]),
        .clear_i  (clear[r]),
        .a_i      (a[r*ABits+:ABits]),
        .b_i      (b[(r*Cols+c)*BBits+:BBits]),
        .acc_o    (acc[c*AccBits+:AccBits]),
        .wrapped_o(wrapped[r*Cols+c])
      );
    end
  end

  // ------------------------------------------------------------------------------- tile and drain
  logic            overflow_d, overflow_q;
  logic [RowW-1:0] row;
  logic            row_last;
  logic            row_valid, row_ready;
  logic            drain_done;

  assign drain_done = valid_o & ready_i & last_o;
  assign overflow_o = overflow_q;

  array_drain #(
    .Rows(Rows)
  ) u_drain (
    .clk_i,
    .rst_ni,
    .compute_o  (compute),
    .last_beat_i(beat_fire & last_i),
    .drain_i,
    .step_end_i (step_end),
    .valid_o    (row_valid),
    .ready_i    (row_ready),
    .row_o      (row),
    .last_o     (row_last),
    .clear_o    (clear),
    .done_i     (drain_done)
  );

  always_comb begin
    overflow_d = overflow_q | (wrapped != '0);
    if (drain_done) overflow_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      overflow_q <= 1'b0;
      used_q     <= '0;
    end else begin
      overflow_q <= overflow_d;
      used_q     <= used_d;
    end
  end

  pipe_reg #(
    .Width (1 + Cols * AccBits),
    .Enable(PipeLatency > 1)
  ) u_drain_reg (
    .clk_i,
    .rst_ni,
    .valid_i(row_valid),
    .ready_o(row_ready),
    .data_i ({row_last, acc_rows[row]}),
    .valid_o,
    .ready_i,
    .data_o ({last_o, c_o})
  );

endmodule
