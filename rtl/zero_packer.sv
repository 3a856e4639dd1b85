// SPDX-License-Identifier: Apache-2.0
//
// A line of codes as a bit mask and its non-zero codes (ARITHMETIC.md 13); exact. In: a beat of up
// to Lanes elements. Out: the beat's piece of the mask, and beside it a word of Lanes codes
// whenever the line's codes fill one, or what is left of them at its end. Where the last beat fills
// a word and leaves codes, one more cycle gives those, without a mask.
//
// One beat per cycle. Latency PipeStages (0 to 2): a register at the output, and one between
// compacting a beat and collecting the codes of beats.

module zero_packer #(
  parameter  int unsigned Lanes        = 16,
  parameter  int unsigned Width        = 8,  // bits of a code
  parameter  int unsigned NegativeZero = 1,  // 1: 10..0 is -0
  parameter  int unsigned PipeStages   = 1,
  localparam int unsigned CountW       = $clog2(Lanes + 1)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [Lanes*Width-1:0] codes_i,
  input  logic [CountW-1:0]      elements_i,  // in this beat: Lanes, or what is left of the line
  input  logic                   last_i,      // this beat ends the line

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [Lanes-1:0]       mask_o,
  output logic [CountW-1:0]      elements_o,  // that mask_o speaks of; 0: no mask
  output logic [Lanes*Width-1:0] word_o,      // +0 beyond fill_o
  output logic [CountW-1:0]      fill_o,      // codes in word_o; 0: no word
  output logic                   last_o
);

  if (Lanes < 2 || Lanes > 64) begin : gen_bad_lanes
    $error("zero_packer: Lanes must be 2 to 64");
  end

  if (Width < 2 || Width > 8) begin : gen_bad_width
    $error("zero_packer: Width must be 2 to 8");
  end

  if (PipeStages > 2) begin : gen_bad_pipe_stages
    $error("zero_packer: PipeStages must be 0 to 2");
  end

  localparam int unsigned WordW = Lanes * Width;
  localparam int unsigned HeldW = WordW - Width;  // at most Lanes - 1 codes wait
  localparam int unsigned HoldW = $clog2(Lanes);

  typedef struct packed {
    logic [Lanes-1:0]  mask;
    logic [CountW-1:0] elements;
    logic [WordW-1:0]  codes;  // the non-zero ones side by side
    logic [CountW-1:0] count;
    logic              last;
  } beat_t;
  localparam int unsigned BeatW = Lanes + CountW + WordW + CountW + 1;

  typedef struct packed {
    logic [Lanes-1:0]  mask;
    logic [CountW-1:0] elements;
    logic [WordW-1:0]  word;
    logic [CountW-1:0] fill;
    logic              last;
  } result_t;
  localparam int unsigned ResultW = Lanes + CountW + WordW + CountW + 1;

  // ----------------------------------------------------------------------------------- one beat
  beat_t beat_d, beat;
  logic  beat_valid, beat_ready;

  for (genvar i = 0; i < Lanes; i++) begin : gen_mask
    logic nonzero;

    if (NegativeZero != 0) begin : gen_two_zeros
      assign nonzero = (codes_i[i*Width+:Width-1] != '0);
    end else begin : gen_one_zero
      assign nonzero = (codes_i[i*Width+:Width] != '0);
    end
    assign beat_d.mask[i] = nonzero & (CountW'(i) < elements_i);
  end

  lane_compact #(
    .Lanes(Lanes),
    .Width(Width)
  ) u_compact (
    .keep_i (beat_d.mask),
    .codes_i,
    .codes_o(beat_d.codes),
    .count_o(beat_d.count)
  );

  assign beat_d.elements = elements_i;
  assign beat_d.last     = last_i;

  pipe_reg #(
    .Width (BeatW),
    .Enable(PipeStages >= 2)
  ) u_beat_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (beat_d),
    .valid_o(beat_valid),
    .ready_i(beat_ready),
    .data_o (beat)
  );

  // --------------------------------------------------------------------------------- many beats
  logic                   flush_d, flush_q;  // a line has ended, codes of it still wait
  logic [HeldW-1:0]       held_d, held_q;
  logic [HoldW-1:0]       hold_d, hold_q;  // codes in held_q
  logic [WordW+HeldW-1:0] placed, all;
  logic [CountW:0]        total;  // codes in all
  logic                   full;
  result_t                result_d, result;
  logic                   result_ready;

  lane_shift #(
    .InLanes (Lanes),
    .OutLanes(2 * Lanes - 1),
    .Width   (Width),
    .PlacesW (HoldW)
  ) u_place (
    .codes_i (beat.codes),
    .places_i(hold_q),
    .codes_o (placed)
  );

  assign all        = placed | (WordW + HeldW)'(held_q);
  assign total      = (CountW + 1)'(hold_q) + (CountW + 1)'(beat.count);
  assign full       = total >= (CountW + 1)'(Lanes);
  assign beat_ready = result_ready & ~flush_q;

  always_comb begin
    result_d.mask     = beat.mask;
    result_d.elements = beat.elements;
    result_d.word     = (full | beat.last) ? all[WordW-1:0] : '0;
    result_d.fill     = full ? CountW'(Lanes) : beat.last ? CountW'(total) : '0;
    result_d.last     = beat.last & (total <= (CountW + 1)'(Lanes));
    held_d            = full ? all[WordW+:HeldW] : beat.last ? '0 : all[HeldW-1:0];
    hold_d            = full ? HoldW'(total - (CountW + 1)'(Lanes))
                             : beat.last ? '0 : HoldW'(total);
    flush_d           = beat.last & ~result_d.last;
    if (flush_q) begin
      result_d.mask     = '0;
      result_d.elements = '0;
      result_d.word     = WordW'(held_q);
      result_d.fill     = CountW'(hold_q);
      result_d.last     = 1'b1;
      held_d            = '0;
      hold_d            = '0;
      flush_d           = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flush_q <= 1'b0;
      held_q  <= '0;
      hold_q  <= '0;
    end else if ((beat_valid | flush_q) & result_ready) begin
      flush_q <= flush_d;
      held_q  <= held_d;
      hold_q  <= hold_d;
    end
  end

  pipe_reg #(
    .Width (ResultW),
    .Enable(PipeStages >= 1)
  ) u_result_reg (
    .clk_i,
    .rst_ni,
    .valid_i(beat_valid | flush_q),
    .ready_o(result_ready),
    .data_i (result_d),
    .valid_o,
    .ready_i,
    .data_o (result)
  );

  assign mask_o     = result.mask;
  assign elements_o = result.elements;
  assign word_o     = result.word;
  assign fill_o     = result.fill;
  assign last_o     = result.last;

endmodule
