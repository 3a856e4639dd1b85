// SPDX-License-Identifier: Apache-2.0
//
// z_o = a_i + b_i in FP32 (ARITHMETIC.md 2): one rounding to nearest, NaN canonical, subnormals on,
// x + (-x) = +0. Latency PipeStages (0 to 2), one operation per cycle. Registers stand after align
// (PipeStages >= 1) and after normalise (2).

module fp32_add #(
  parameter  int unsigned PipeStages = 0,
  localparam int unsigned ExpW       = 9,
  localparam int unsigned Frame      = 27,  // 24 bits to keep, guard, round, sticky
  localparam int unsigned AlignTapW  = ExpW + 1 + 2 * Frame,
  localparam int unsigned NormTapW   = Frame + 1 + 1 + ExpW + Frame,  // sum and normalised
  localparam int unsigned TapW       = AlignTapW + NormTapW + 32
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          a_i,
  input  logic [31:0]          b_i,

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [31:0]          z_o,
  output mantissa_pkg::flags_t flags_o,
  output logic [TapW-1:0]      tap_o
);

  if (PipeStages > 2) begin : gen_bad_pipe_stages
    $error("fp32_add: PipeStages must be 0 to 2");
  end

  // ----------------------------------------------------------------------------- decode, align
  logic            a_neg, a_zero, a_inf, a_nan, a_snan;
  logic            b_neg, b_zero, b_inf, b_nan, b_snan;
  logic [ExpW-1:0] a_exp, b_exp;
  logic [23:0]     a_sig, b_sig;

  fp_decode #(
    .Exp (8),
    .Man (23),
    .Bias(127),
    .ExpW(ExpW)
  ) u_decode_a (
    .code_i(a_i),
    .neg_o (a_neg),
    .zero_o(a_zero),
    .inf_o (a_inf),
    .nan_o (a_nan),
    .snan_o(a_snan),
    .exp_o (a_exp),
    .sig_o (a_sig)
  );

  fp_decode #(
    .Exp (8),
    .Man (23),
    .Bias(127),
    .ExpW(ExpW)
  ) u_decode_b (
    .code_i(b_i),
    .neg_o (b_neg),
    .zero_o(b_zero),
    .inf_o (b_inf),
    .nan_o (b_nan),
    .snan_o(b_snan),
    .exp_o (b_exp),
    .sig_o (b_sig)
  );

  // What the rounder must know about values that are not ordinary numbers.
  typedef struct packed {
    logic nan;
    logic inf;
    logic inf_neg;
    logic zero_neg;  // sign of a zero result
    logic invalid;
  } special_t;
  localparam int unsigned SpecialW = 5;

  typedef struct packed {
    special_t         special;
    logic             neg;
    logic [ExpW-1:0]  exp;
    logic             plain;     // both addends are finite and not zero
    logic             subtract;
    logic [ExpW-1:0]  shift;
    logic [Frame-1:0] larger;
    logic [Frame-1:0] aligned;
  } align_t;
  localparam int unsigned AlignW = SpecialW + 3 + 2 * ExpW + 2 * Frame;

  align_t   align_d, align;
  special_t special;
  logic     opposite_infs;
  logic     align_valid, align_ready;

  assign opposite_infs = a_inf & b_inf & (a_neg ^ b_neg);

  always_comb begin
    special.nan      = a_nan | b_nan | opposite_infs;
    special.inf      = (a_inf | b_inf) & ~special.nan;
    special.inf_neg  = a_inf ? a_neg : b_neg;
    special.zero_neg = a_neg & b_neg;  // then both are zero: x + (-x) has two signs
    special.invalid  = a_snan | b_snan | opposite_infs;
  end

  fp_align #(
    .Frame(Frame),
    .ExpW (ExpW)
  ) u_align (
    .x_neg_i   (a_neg),
    .x_zero_i  (a_zero),
    .x_exp_i   (a_exp),
    .x_sig_i   ({a_sig, {Frame - 24{1'b0}}}),
    .y_neg_i   (b_neg),
    .y_zero_i  (b_zero),
    .y_exp_i   (b_exp),
    .y_sig_i   ({b_sig, {Frame - 24{1'b0}}}),
    .neg_o     (align_d.neg),
    .exp_o     (align_d.exp),
    .subtract_o(align_d.subtract),
    .shift_o   (align_d.shift),
    .larger_o  (align_d.larger),
    .aligned_o (align_d.aligned)
  );

  assign align_d.special = special;
  assign align_d.plain   = ~(a_zero | a_inf | a_nan | b_zero | b_inf | b_nan);

  pipe_reg #(
    .Width (AlignW),
    .Enable(PipeStages >= 1)
  ) u_align_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (align_d),
    .valid_o(align_valid),
    .ready_i(align_ready),
    .data_o (align)
  );

  // --------------------------------------------------------------------------- add, normalise
  typedef struct packed {
    logic                 nan;
    logic                 inf;
    logic                 invalid;
    logic                 neg;
    logic                 zero;
    logic [ExpW-1:0]      exp;
    logic [Frame-1:0]     sig;
    logic [AlignTapW-1:0] align_tap;
    logic [NormTapW-1:0]  norm_tap;
  } norm_t;
  localparam int unsigned NormW = 5 + ExpW + Frame + AlignTapW + NormTapW;

  norm_t            norm_d, norm;
  logic [Frame:0]   sum;
  logic             sum_zero;
  logic [ExpW-1:0]  norm_exp;
  logic [Frame-1:0] norm_sig;

  fp_add_normalise #(
    .Frame(Frame),
    .ExpW (ExpW)
  ) u_add_normalise (
    .exp_i     (align.exp),
    .subtract_i(align.subtract),
    .larger_i  (align.larger),
    .aligned_i (align.aligned),
    .sum_o     (sum),
    .zero_o    (sum_zero),
    .exp_o     (norm_exp),
    .sig_o     (norm_sig)
  );

  assign norm_d.nan       = align.special.nan;
  assign norm_d.inf       = align.special.inf;
  assign norm_d.invalid   = align.special.invalid;
  assign norm_d.neg       = align.special.inf ? align.special.inf_neg :
                            sum_zero          ? align.special.zero_neg : align.neg;
  assign norm_d.zero      = sum_zero;
  assign norm_d.exp       = norm_exp;
  assign norm_d.sig       = norm_sig;
  assign norm_d.align_tap =
      align.plain ? {align.shift, align.subtract, align.larger, align.aligned} : '0;
  assign norm_d.norm_tap  =
      !align.plain ? '0 :
      sum_zero     ? {sum, {1 + ExpW + Frame{1'b0}}} : {sum, align.neg, norm_exp, norm_sig};

  pipe_reg #(
    .Width (NormW),
    .Enable(PipeStages >= 2)
  ) u_norm_reg (
    .clk_i,
    .rst_ni,
    .valid_i(align_valid),
    .ready_o(align_ready),
    .data_i (norm_d),
    .valid_o,
    .ready_i,
    .data_o (norm)
  );

  // ------------------------------------------------------------------------------------- round
  mantissa_pkg::flags_t round_flags;

  fp_round #(
    .Frame(Frame),
    .ExpW (ExpW)
  ) u_round (
    .neg_i  (norm.neg),
    .zero_i (norm.zero),
    .inf_i  (norm.inf),
    .nan_i  (norm.nan),
    .exp_i  (norm.exp),
    .sig_i  (norm.sig),
    .rnd_i  (1'b0),
    .code_o (z_o),
    .flags_o(round_flags)
  );

  always_comb begin
    flags_o         = round_flags;
    flags_o.invalid = round_flags.invalid | norm.invalid;
  end

  assign tap_o = {norm.align_tap, norm.norm_tap, z_o};

endmodule
