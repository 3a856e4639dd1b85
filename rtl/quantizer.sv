// SPDX-License-Identifier: Apache-2.0
//
// FP32 to a narrow format (ARITHMETIC.md 5 and 2): x_i * 2^scale_i, exact, then one rounding; NaN
// canonical. One element per cycle, latency PipeStages (0 or 1). The register stands between
// decoding and rounding.

module quantizer #(
  parameter  int unsigned Exp        = 5,
  parameter  int unsigned Man        = 2,
  parameter  int unsigned Bias       = 15,
  parameter  int unsigned Specials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned Round      = mantissa_pkg::RoundNe,
  parameter  int unsigned RndBits    = 0,  // 0 unless Round is RoundSr
  parameter  int unsigned Saturate   = 0,  // 1: overflow gives the largest finite number
  parameter  int unsigned PipeStages = 0,
  localparam int unsigned Width      = 1 + Exp + Man,
  localparam int unsigned RndW       = (RndBits == 0) ? 1 : RndBits
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          x_i,
  input  logic [7:0]           scale_i,  // signed
  input  logic [RndW-1:0]      rnd_i,    // counts only if Round is RoundSr

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [Width-1:0]     code_o,
  output mantissa_pkg::flags_t flags_o
);

  if (PipeStages > 1) begin : gen_bad_pipe_stages
    $error("quantizer: PipeStages must be 0 or 1");
  end

  // 11 bits hold the distance of -149 - 128 .. 127 + 127 from the smallest exponent of any format.
  localparam int unsigned ExpW  = 11;
  localparam int unsigned SigW  = 24;
  localparam int unsigned Keep  = Man + 1 + RndBits + 2;
  localparam int unsigned Frame = (Keep > SigW) ? Keep : SigW;

  // ------------------------------------------------------------------------------------- scale
  typedef struct packed {
    logic            neg;
    logic            zero;
    logic            inf;
    logic            nan;
    logic            snan;
    logic [ExpW-1:0] exp;
    logic [SigW-1:0] sig;
    logic [RndW-1:0] rnd;
  } scaled_t;
  localparam int unsigned ScaledW = 5 + ExpW + SigW + RndW;

  scaled_t         scaled_d, scaled;
  logic            x_neg, x_zero, x_inf, x_nan, x_snan;
  logic [ExpW-1:0] x_exp;
  logic [SigW-1:0] x_sig;

  fp_decode #(
    .Exp (8),
    .Man (23),
    .Bias(127),
    .ExpW(ExpW)
  ) u_decode (
    .code_i(x_i),
    .neg_o (x_neg),
    .zero_o(x_zero),
    .inf_o (x_inf),
    .nan_o (x_nan),
    .snan_o(x_snan),
    .exp_o (x_exp),
    .sig_o (x_sig)
  );

  always_comb begin
    scaled_d.neg  = x_neg;
    scaled_d.zero = x_zero;
    scaled_d.inf  = x_inf;
    scaled_d.nan  = x_nan;
    scaled_d.snan = x_snan;
    scaled_d.exp  = x_exp + {{ExpW - 8{scale_i[7]}}, scale_i};
    scaled_d.sig  = x_sig;
    scaled_d.rnd  = rnd_i;
  end

  pipe_reg #(
    .Width (ScaledW),
    .Enable(PipeStages >= 1)
  ) u_scaled_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (scaled_d),
    .valid_o,
    .ready_i,
    .data_o (scaled)
  );

  // ------------------------------------------------------------------------------------- round
  logic [Frame-1:0]     sig;
  mantissa_pkg::flags_t round_flags;

  if (Frame > SigW) begin : gen_pad
    assign sig = {scaled.sig, {Frame - SigW{1'b0}}};
  end else begin : gen_no_pad
    assign sig = scaled.sig;
  end

  fp_round #(
    .Exp     (Exp),
    .Man     (Man),
    .Bias    (Bias),
    .Specials(Specials),
    .Round   (Round),
    .RndBits (RndBits),
    .Saturate(Saturate != 0),
    .Frame   (Frame),
    .ExpW    (ExpW)
  ) u_round (
    .neg_i  (scaled.neg),
    .zero_i (scaled.zero),
    .inf_i  (scaled.inf),
    .nan_i  (scaled.nan),
    .exp_i  (scaled.exp),
    .sig_i  (sig),
    .rnd_i  (scaled.rnd),
    .code_o (code_o),
    .flags_o(round_flags)
  );

  always_comb begin
    flags_o         = round_flags;
    flags_o.invalid = round_flags.invalid | scaled.snan;
  end

endmodule
