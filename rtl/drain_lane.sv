// SPDX-License-Identifier: Apache-2.0
//
// One lane of the array's drain (ARITHMETIC.md 4, 7): accumulator to FP32, plus bias, one rounding,
// then the quantizer, one rounding, with the lane's own generator if stochastic, loaded before
// the first element, one draw per element. One element per cycle, latency PipeStages (0 or 1).

module drain_lane #(
  parameter  int unsigned AccExp     = 8,
  parameter  int unsigned AccMan     = 23,
  parameter  int unsigned Exp        = 5,
  parameter  int unsigned Man        = 2,
  parameter  int unsigned Bias       = 15,
  parameter  int unsigned Specials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned Round      = mantissa_pkg::RoundNe,
  parameter  int unsigned RndBits    = 0,     // 0 unless Round is RoundSr
  parameter  int unsigned Saturate   = 0,
  parameter  int unsigned Leap       = 16,
  parameter  int unsigned PipeStages = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   load_i,       // not while an element is offered
  input  logic [31:0]            seed_i,
  output logic                   zero_seed_o,  // until the next load

  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [AccExp+AccMan:0] acc_i,
  input  logic [31:0]            bias_i,
  input  logic [7:0]             scale_i,      // signed

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [Exp+Man:0]       code_o,
  output mantissa_pkg::flags_t   flags_o
);

  if (RndBits > Leap) begin : gen_bad_rnd_bits
    $error("drain_lane: RndBits must not exceed Leap, or draws overlap");
  end

  localparam int unsigned RndW = (RndBits == 0) ? 1 : RndBits;

  // ---------------------------------------------------------------------------------------- draw
  logic [RndW-1:0] draw;

  if (Round == mantissa_pkg::RoundSr) begin : gen_draw
    logic        unused_ready, unused_valid;
    logic [31:0] rnd;
    logic        unused_rnd;

    lfsr #(
      .Leap(Leap)
    ) u_lfsr (
      .clk_i,
      .rst_ni,
      .valid_i    (load_i),
      .ready_o    (unused_ready),
      .seed_i,
      .valid_o    (unused_valid),
      .ready_i    ((valid_i & ready_o) | load_i),
      .rnd_o      (rnd),
      .zero_seed_o
    );
    assign draw       = rnd[RndW-1:0];
    assign unused_rnd = ^rnd;
  end else begin : gen_no_draw
    logic unused_seed;

    assign unused_seed = load_i ^ (^seed_i);
    assign zero_seed_o = 1'b0;
    assign draw        = '0;
  end

  // ------------------------------------------------------------------------------ bias, quantize
  logic [31:0] sum;
  logic [31:0] biased;

  fp_to_fp32 #(
    .Exp(AccExp),
    .Man(AccMan)
  ) u_widen (
    .code_i(acc_i),
    .fp32_o(sum)
  );

  fp32_add_comb u_bias (
    .a_i(sum),
    .b_i(bias_i),
    .z_o(biased)
  );

  quantizer #(
    .Exp       (Exp),
    .Man       (Man),
    .Bias      (Bias),
    .Specials  (Specials),
    .Round     (Round),
    .RndBits   (RndBits),
    .Saturate  (Saturate),
    .PipeStages(PipeStages)
  ) u_quantizer (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .x_i    (biased),
    .scale_i,
    .rnd_i  (draw),
    .valid_o,
    .ready_i,
    .code_o,
    .flags_o
  );

endmodule
