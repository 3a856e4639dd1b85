// SPDX-License-Identifier: Apache-2.0
//
// Rows x Cols output-stationary array with skip window, staging and drain (ARITHMETIC.md 4, 7):
// one rounding to nearest per step, then bias and drain quantizer; exact in bits and in cycles.
//
// In: one beat of the port, Port k-slices of A (Rows elements) and B (Cols elements). Windows,
// beats and count_i are those of skip_window. A window stays in a slot of a register file: its B is
// read by one multiplexer per processing element, its A by one per row, the bank. What concerns
// the whole step or tile counts in the beat with last_i: drain_i ends the tile, with its bias and
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

  localparam int unsigned Words = Depth * Window;
  localparam int unsigned WordW = $clog2(Words);
  localparam int unsigned RowW  = (Rows == 1) ? 1 : $clog2(Rows);

  // StCompute takes beats; StSettle: the last products join their sums; StSend one row per cycle;
  // StFlush the quantizers.
  typedef enum logic [1:0] {StCompute, StSettle, StSend, StFlush} state_e;
  state_e state_d, state_q;

  // -------------------------------------------------------------------------- the beat's operands
  logic [Port*Rows-1:0] nonzero;
  logic [Port-1:0]      in_beat;
  logic [Port-1:0]      b_special;  // the slice has an Inf or NaN
  logic [Port-1:0]      suppresses;

  for (genvar p = 0; p < Port; p++) begin : gen_slice
    logic [Cols-1:0] special;

    for (genvar r = 0; r < Rows; r++) begin : gen_nonzero
      // Either zero is zero, NaN is not: without a negative zero that code is NaN.
      localparam int unsigned Low  = (p * Rows + r) * AW;
      localparam int unsigned Bits = (ASpecials == mantissa_pkg::SpecialsFnuz) ? AW : AW - 1;
      assign nonzero[p*Rows+r] = (a_i[Low+:Bits] != '0);
    end

    for (genvar c = 0; c < Cols; c++) begin : gen_special
      localparam int unsigned Low = (p * Cols + c) * BW;
      if (BSpecials == mantissa_pkg::SpecialsIeee) begin : gen_ieee
        assign special[c] = &b_i[Low+BMan+:BExp];
      end else if (BSpecials == mantissa_pkg::SpecialsFn) begin : gen_fn
        assign special[c] = &b_i[Low+:BW-1];
      end else if (BSpecials == mantissa_pkg::SpecialsFnuz) begin : gen_fnuz
        assign special[c] = (b_i[Low+:BW] == {1'b1, {BW - 1{1'b0}}});
      end else begin : gen_finite
        assign special[c] = 1'b0;
      end
    end

    assign in_beat[p]    = (CountW'(p) < count_i);
    assign b_special[p]  = (special != '0);
    assign suppresses[p] = in_beat[p] & b_special[p] & ((used_i & ~nonzero[p*Rows+:Rows]) != '0);
  end

  // --------------------------------------------------------------------------------- skip window
  logic                  beat_fire;
  logic                  window_ready;
  logic [WordW-1:0]      stage;
  logic                  work_valid;
  logic [Rows-1:0]       enable;
  logic [Rows*WordW-1:0] word;
  logic                  work_last;
  logic                  step_end;

  assign ready_o   = window_ready & (state_q == StCompute);
  assign beat_fire = valid_i & ready_o;
  assign step_end  = work_valid & work_last;

  skip_window #(
    .Rows  (Rows),
    .Window(Window),
    .Depth (Depth),
    .Port  (Port)
  ) u_skip_window (
    .clk_i,
    .rst_ni,
    .valid_i  (valid_i & (state_q == StCompute)),
    .ready_o  (window_ready),
    .nonzero_i(nonzero),
    .count_i,
    .skip_i,
    .last_i,
    .stage_o  (stage),
    .valid_o  (work_valid),
    .ready_i  (1'b1),
    .enable_o (enable),
    .word_o   (word),
    .last_o   (work_last)
  );

  // ------------------------------------------------------------------------------------- staging
  logic [Rows*AW-1:0] a_staged_q [Words];
  logic [Cols*BW-1:0] b_staged_q [Words];

  for (genvar w = 0; w < Words; w++) begin : gen_word
    localparam int unsigned Lane = (w % Window) % Port;

    always_ff @(posedge clk_i) begin
      if (beat_fire & (stage == WordW'(w - Lane)) & in_beat[Lane]) begin
        a_staged_q[w] <= a_i[Lane*Rows*AW+:Rows*AW];
        b_staged_q[w] <= b_i[Lane*Cols*BW+:Cols*BW];
      end
    end
  end

  // --------------------------------------------------------------------------------- the elements
  logic [Rows-1:0]      clear;
  logic [Cols*AccW-1:0] acc_rows [Rows];

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [WordW-1:0]     selected;
    logic [AW-1:0]        a;
    logic [Cols*BW-1:0]   b;
    logic [Cols*AccW-1:0] acc;

    assign selected    = word[r*WordW+:WordW];
    assign a           = a_staged_q[selected][r*AW+:AW];
    assign b           = b_staged_q[selected];
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
        .a_i    (a),
        .b_i    (b[c*BW+:BW]),
        .valid_o(unused_valid),
        .acc_o  (acc[c*AccW+:AccW])
      );
    end
  end

  // ------------------------------------------------------------------------------- tile and drain
  typedef struct packed {
    logic               drain;
    logic [Cols*32-1:0] bias;
    logic [7:0]         scale;
  } tile_t;

  tile_t           tile_d, tile_q;
  logic            suppressed_d, suppressed_q;
  logic [RowW-1:0] row_d, row_q;
  logic            row_last;
  logic            row_valid, row_ready, row_fire;
  logic            drain_done;

  assign row_last   = (row_q == RowW'(Rows - 1));
  assign row_valid  = (state_q == StSend);
  assign row_fire   = row_valid & row_ready;
  assign drain_done = valid_o & ready_i & last_o;

  for (genvar r = 0; r < Rows; r++) begin : gen_clear
    assign clear[r] = row_fire & (row_q == RowW'(r));
  end

  always_comb begin
    state_d      = state_q;
    tile_d       = tile_q;
    row_d        = row_q;
    suppressed_d = suppressed_q;
    if (beat_fire & last_i) begin
      tile_d.drain = drain_i;
      tile_d.bias  = bias_i;
      tile_d.scale = scale_i;
    end
    if (beat_fire & skip_i & (suppresses != '0)) suppressed_d = 1'b1;
    if (row_fire) row_d = row_last ? '0 : row_q + 1'b1;

    unique case (state_q)
      StCompute: if (step_end & tile_q.drain) state_d = StSettle;
      StSettle:  state_d = StSend;
      StSend:    if (row_fire & row_last) state_d = StFlush;
      default: ;  // StFlush
    endcase
    if (drain_done) begin
      state_d      = StCompute;
      suppressed_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StCompute;
      tile_q       <= '0;
      row_q        <= '0;
      suppressed_q <= 1'b0;
    end else begin
      state_q      <= state_d;
      tile_q       <= tile_d;
      row_q        <= row_d;
      suppressed_q <= suppressed_d;
    end
  end

  // ---------------------------------------------------------------------------------------- lanes
  logic [Cols*AccW-1:0] acc_row;
  logic [Cols-1:0]      lane_ready;
  logic [Cols-1:0]      lane_valid;
  logic [Cols-1:0]      lane_zero_seed;
  logic                 side_ready, side_valid;

  assign acc_row      = acc_rows[row_q];
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
