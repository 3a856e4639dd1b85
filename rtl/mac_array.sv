// SPDX-License-Identifier: Apache-2.0
//
// Rows x Cols output-stationary array with skip window, staging and drain (ARITHMETIC.md 4, 7):
// one rounding to nearest per step, then bias and drain quantizer; exact in bits and in cycles.
//
// In: one beat of the port, Port k-slices of A (Rows elements) and B (Cols elements). Windows,
// beats and count_i are those of skip_window, staging that of array_operands. What concerns the
// whole step or tile counts in the beat with last_i: drain_i ends the tile, with its bias and
// scale; without drain_i the next step adds to the same sums.
// Out: the tile's rows, ascending, as codes. A drain begins with the first cycle after the tile's
// last work and takes Rows + PipeLatency cycles, unless ready_i holds it; then the next tile may
// begin. (A drain that must wait for room in a buffer: ready_i rises PipeLatency cycles after it.)

module mac_array #(
  parameter  int unsigned Rows        = 16,
  parameter  int unsigned Cols        = 16,
  parameter  int unsigned Window      = 16,  // as skip_window
  parameter  int unsigned Depth       = 2,
  parameter  int unsigned Port        = 4,
  parameter  int unsigned AExp        = 5,
  parameter  int unsigned AMan        = 2,
  parameter  int unsigned ABias       = 15,
  parameter  int unsigned ASpecials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned BExp        = 5,
  parameter  int unsigned BMan        = 2,
  parameter  int unsigned BBias       = 15,
  parameter  int unsigned BSpecials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned AccExp      = 8,
  parameter  int unsigned AccMan      = 23,
  parameter  int unsigned CExp        = 5,
  parameter  int unsigned CMan        = 2,
  parameter  int unsigned CBias       = 15,
  parameter  int unsigned CSpecials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned CRound      = mantissa_pkg::RoundNe,
  parameter  int unsigned CRndBits    = 0,     // 0 unless CRound is RoundSr
  parameter  int unsigned CSaturate   = 0,
  parameter  int unsigned Leap        = 16,    // of the lanes' generators
  parameter  int unsigned QuantStages = 1,     // 0 or 1
  localparam int unsigned AW          = 1 + AExp + AMan,
  localparam int unsigned BW          = 1 + BExp + BMan,
  localparam int unsigned AccW        = 1 + AccExp + AccMan,
  localparam int unsigned CW          = 1 + CExp + CMan,
  localparam int unsigned CountW      = $clog2(Port + 1),
  // Registers from the selection of a tile's last operand to the C buffer: operands, quantizer.
  localparam int unsigned PipeLatency = 1 + QuantStages
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    valid_i,
  output logic                    ready_o,
  input  logic [Port*Rows*AW-1:0] a_i,      // slice p, row r at p * Rows + r
  input  logic [Port*Cols*BW-1:0] b_i,      // slice p, column c at p * Cols + c
  input  logic [CountW-1:0]       count_i,  // slices in this beat, 1..Port
  input  logic [Rows-1:0]         used_i,   // rows in use; the others hold zeros
  input  logic                    skip_i,
  input  logic                    last_i,   // this beat ends the step
  input  logic                    drain_i,  // and the step its tile
  input  logic [Cols*32-1:0]      bias_i,   // FP32, +0 for none
  input  logic [7:0]              scale_i,  // of the drain quantizer, signed

  input  logic                    load_i,   // the lanes' generators take their seeds
  input  logic [Cols*32-1:0]      seed_i,

  output logic                    valid_o,
  input  logic                    ready_i,
  output logic [Cols*CW-1:0]      c_o,
  output logic [Cols*5-1:0]       flags_o,       // of the quantizers, flags_t each
  output logic                    last_o,        // this row ends the tile
  output logic                    suppressed_o,  // a zero of A was skipped against Inf or NaN in B
  output logic                    zero_seed_o,   // a lane's last seed was 0, which loads 1
  output logic [Cols*AccW-1:0]    tap_o          // the accumulators, before bias and quantizer
);

  if (AccExp > 8 || AccMan > 23) begin : gen_bad_accumulator
    $error("mac_array: the accumulator must fit FP32, which the drain works in");
  end

  if (QuantStages > 1) begin : gen_bad_quant_stages
    $error("mac_array: QuantStages must be 0 or 1");
  end

  localparam int unsigned RowW = (Rows == 1) ? 1 : $clog2(Rows);

  // -------------------------------------------------------------------------- the beat's operands
  logic [Port*Rows-1:0] nonzero;
  logic                 suppresses;

  beat_codes #(
    .Rows     (Rows),
    .Cols     (Cols),
    .Port     (Port),
    .AExp     (AExp),
    .AMan     (AMan),
    .ASpecials(ASpecials),
    .BExp     (BExp),
    .BMan     (BMan),
    .BSpecials(BSpecials)
  ) u_codes (
    .a_i,
    .b_i,
    .count_i,
    .used_i,
    .cols_i      ({Cols{1'b1}}),
    .nonzero_o   (nonzero),
    .suppresses_o(suppresses)
  );

  logic                    compute;
  logic                    operands_ready;
  logic                    beat_fire;
  logic [Rows-1:0]         enable;
  logic [Rows*AW-1:0]      a;
  logic [Rows*Cols*BW-1:0] b;
  logic                    step_end;

  assign ready_o   = operands_ready & compute;
  assign beat_fire = valid_i & ready_o;

  array_operands #(
    .Rows  (Rows),
    .Cols  (Cols),
    .Window(Window),
    .Depth (Depth),
    .Port  (Port),
    .AW    (AW),
    .BW    (BW)
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
  logic [Rows-1:0]      clear;
  logic [Cols*AccW-1:0] acc_rows [Rows];

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [Cols*AccW-1:0] acc;

    assign acc_rows[r] = acc;

    for (genvar c = 0; c < Cols; c++) begin : gen_col
      logic unused_ready, unused_valid;

      fp8_pe #(
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
      ) u_pe (
        .clk_i,
        .rst_ni,
        .valid_i(enable[r]),
        .ready_o(unused_ready),
        .clear_i(clear[r]),
        .a_i    (a[r*AW+:AW]),
        .b_i    (b[(r*Cols+c)*BW+:BW]),
        .valid_o(unused_valid),
        .acc_o  (acc[c*AccW+:AccW])
      );
    end
  end

  // ------------------------------------------------------------------------------- tile and drain
  typedef struct packed {
    logic [Cols*32-1:0] bias;
    logic [7:0]         scale;
  } tile_t;

  tile_t           tile_d, tile_q;
  logic            suppressed_d, suppressed_q;
  logic [RowW-1:0] row;
  logic            row_last;
  logic            row_valid, row_ready;
  logic            drain_done;

  assign drain_done = valid_o & ready_i & last_o;

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
    tile_d       = tile_q;
    suppressed_d = suppressed_q;
    if (beat_fire & last_i) begin
      tile_d.bias  = bias_i;
      tile_d.scale = scale_i;
    end
    if (beat_fire & skip_i & suppresses) suppressed_d = 1'b1;
    if (drain_done) suppressed_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tile_q       <= '0;
      suppressed_q <= 1'b0;
    end else begin
      tile_q       <= tile_d;
      suppressed_q <= suppressed_d;
    end
  end

  // ---------------------------------------------------------------------------------------- lanes
  logic [Cols*AccW-1:0] acc_row;
  logic [Cols-1:0]      lane_ready;
  logic [Cols-1:0]      lane_valid;
  logic [Cols-1:0]      lane_zero_seed;
  logic                 side_ready, side_valid;

  assign acc_row      = acc_rows[row];
  assign row_ready    = side_ready & (&lane_ready);
  assign valid_o      = side_valid & (&lane_valid);
  assign suppressed_o = suppressed_q;
  assign zero_seed_o  = |lane_zero_seed;

  // All lanes take a row together, in use or not, so that each draws once per row.
  for (genvar c = 0; c < Cols; c++) begin : gen_lane
    drain_lane #(
      .AccExp    (AccExp),
      .AccMan    (AccMan),
      .Exp       (CExp),
      .Man       (CMan),
      .Bias      (CBias),
      .Specials  (CSpecials),
      .Round     (CRound),
      .RndBits   (CRndBits),
      .Saturate  (CSaturate),
      .Leap      (Leap),
      .PipeStages(PipeLatency - 1)
    ) u_lane (
      .clk_i,
      .rst_ni,
      .load_i     (beat_fire & load_i),
      .seed_i     (seed_i[c*32+:32]),
      .zero_seed_o(lane_zero_seed[c]),
      .valid_i    (row_valid),
      .ready_o    (lane_ready[c]),
      .acc_i      (acc_row[c*AccW+:AccW]),
      .bias_i     (tile_q.bias[c*32+:32]),
      .scale_i    (tile_q.scale),
      .valid_o    (lane_valid[c]),
      .ready_i,
      .code_o     (c_o[c*CW+:CW]),
      .flags_o    (flags_o[c*5+:5])
    );
  end

  // What goes beside the lanes.
  pipe_reg #(
    .Width (1 + Cols * AccW),
    .Enable(PipeLatency > 1)
  ) u_side_reg (
    .clk_i,
    .rst_ni,
    .valid_i(row_valid),
    .ready_o(side_ready),
    .data_i ({row_last, acc_row}),
    .valid_o(side_valid),
    .ready_i,
    .data_o ({last_o, tap_o})
  );

endmodule
