// SPDX-License-Identifier: Apache-2.0
//
// A packed line back to codes (ARITHMETIC.md 13); exact. In: a piece of the line's mask, and beside
// it a word of its codes if the codes that wait do not suffice. Out: the beat's codes, +0 where the
// mask has a 0. One beat per cycle. Latency PipeStages (0 to 2): a register at the output, and one
// behind the counting of the mask.
//
// A beat that no packed line has is refused: in its place stands a result with last_o and error_o,
// without elements, and the rest of the line is swallowed. Then the line is refused as a whole:
// whoever took its first elements throws them away.

module zero_unpacker #(
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
  input  logic [Lanes-1:0]       mask_i,
  input  logic [CountW-1:0]      elements_i,  // in this beat: Lanes, or what is left of the line
  input  logic [Lanes*Width-1:0] word_i,      // anything beyond fill_i
  input  logic [CountW-1:0]      fill_i,      // codes in word_i: Lanes, what is left, or 0: no word
  input  logic                   last_i,      // this beat ends the line

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [Lanes*Width-1:0] codes_o,
  output logic [CountW-1:0]      elements_o,
  output logic                   last_o,
  output logic                   error_o
);

  if (Lanes < 2 || Lanes > 64) begin : gen_bad_lanes
    $error("zero_unpacker: Lanes must be 2 to 64");
  end

  if (Width < 2 || Width > 8) begin : gen_bad_width
    $error("zero_unpacker: Width must be 2 to 8");
  end

  if (PipeStages > 2) begin : gen_bad_pipe_stages
    $error("zero_unpacker: PipeStages must be 0 to 2");
  end

  localparam int unsigned WordW = Lanes * Width;
  localparam int unsigned HeldW = WordW - Width;  // at most Lanes - 1 codes wait
  localparam int unsigned HoldW = $clog2(Lanes);
  localparam int unsigned RankW = $clog2(Lanes);

  typedef struct packed {
    logic [Lanes-1:0]       mask;
    logic [Lanes*RankW-1:0] rank;   // ones of the mask below each lane
    logic [CountW-1:0]      needed;
    logic                   stray;  // a bit is set beyond the elements
    logic [CountW-1:0]      elements;
    logic [WordW-1:0]       word;
    logic [CountW-1:0]      fill;
    logic                   last;
  } beat_t;
  localparam int unsigned BeatW =
      Lanes + Lanes * RankW + CountW + 1 + CountW + WordW + CountW + 1;

  typedef struct packed {
    logic [WordW-1:0]  codes;
    logic [CountW-1:0] elements;
    logic              last;
    logic              error;
  } result_t;
  localparam int unsigned ResultW = WordW + CountW + 1 + 1;

  // ----------------------------------------------------------------------------------- the mask
  beat_t beat_d, beat;
  logic  beat_valid, beat_ready;

  always_comb begin
    beat_d.mask     = mask_i;
    beat_d.rank     = '0;
    beat_d.needed   = '0;
    beat_d.stray    = 1'b0;
    beat_d.elements = elements_i;
    beat_d.word     = '0;
    beat_d.fill     = fill_i;
    beat_d.last     = last_i;
    for (int unsigned i = 0; i < Lanes; i++) begin
      beat_d.rank[i*RankW+:RankW] = RankW'(beat_d.needed);
      beat_d.needed               = beat_d.needed + CountW'(mask_i[i]);
      if (mask_i[i] & (CountW'(i) >= elements_i)) beat_d.stray = 1'b1;
      if (CountW'(i) < fill_i) beat_d.word[i*Width+:Width] = word_i[i*Width+:Width];
    end
  end

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

  // ---------------------------------------------------------------------------------- the codes
  logic                   swallow_d, swallow_q;  // a line is refused, the rest of it still to come
  logic [HeldW-1:0]       held_d, held_q;
  logic [HoldW-1:0]       hold_d, hold_q;  // codes in held_q
  logic [WordW+HeldW-1:0] placed, all, rest;
  logic [CountW:0]        total;           // codes in all
  logic [CountW:0]        needed;
  logic                   wanted;          // the beat needs a word
  logic [Lanes-1:0]       zero;
  logic                   refused;
  logic [WordW-1:0]       codes;
  result_t                result_d, result;
  logic                   result_ready;

  lane_shift #(
    .InLanes (Lanes),
    .OutLanes(2 * Lanes - 1),
    .Width   (Width),
    .PlacesW (HoldW)
  ) u_place (
    .codes_i (beat.word),
    .places_i(hold_q),
    .codes_o (placed)
  );

  assign all    = placed | (WordW + HeldW)'(held_q);
  assign total  = (CountW + 1)'(hold_q) + (CountW + 1)'(beat.fill);
  assign needed = (CountW + 1)'(beat.needed);
  assign wanted = beat.needed > CountW'(hold_q);

  // A lane's rank is at most its own number.
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [Width-1:0] code;

    assign code                  = all[beat.rank[i*RankW+:RankW]*Width+:Width];
    assign codes[i*Width+:Width] = code & {Width{beat.mask[i]}};
    if (NegativeZero != 0) begin : gen_two_zeros
      assign zero[i] = (code[Width-2:0] == '0);
    end else begin : gen_one_zero
      assign zero[i] = (code == '0);
    end
  end

  // A code that is missing is a zero too.
  assign refused = beat.stray | (wanted != (beat.fill != '0)) | ((beat.mask & zero) != '0) |
                   (beat.last & (total != needed));

  always_comb begin
    rest = all;
    for (int unsigned s = 0; s < CountW; s++) begin
      if (beat.needed[s]) rest = rest >> (Width << s);
    end
  end

  assign beat_ready = result_ready | swallow_q;

  always_comb begin
    result_d.codes    = refused ? '0 : codes;
    result_d.elements = refused ? '0 : beat.elements;
    result_d.last     = refused | beat.last;
    result_d.error    = refused;
    held_d            = result_d.last ? '0 : rest[HeldW-1:0];
    hold_d            = result_d.last ? '0 : HoldW'(total - needed);
    swallow_d         = refused & ~beat.last;
    if (swallow_q) begin
      held_d    = '0;
      hold_d    = '0;
      swallow_d = ~beat.last;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      swallow_q <= 1'b0;
      held_q    <= '0;
      hold_q    <= '0;
    end else if (beat_valid & beat_ready) begin
      swallow_q <= swallow_d;
      held_q    <= held_d;
      hold_q    <= hold_d;
    end
  end

  pipe_reg #(
    .Width (ResultW),
    .Enable(PipeStages >= 1)
  ) u_result_reg (
    .clk_i,
    .rst_ni,
    .valid_i(beat_valid & ~swallow_q),
    .ready_o(result_ready),
    .data_i (result_d),
    .valid_o,
    .ready_i,
    .data_o (result)
  );

  assign codes_o    = result.codes;
  assign elements_o = result.elements;
  assign last_o     = result.last;
  assign error_o    = result.error;

endmodule
