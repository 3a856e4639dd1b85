// SPDX-License-Identifier: Apache-2.0
//
// acc_o = round(acc_i + a_i * b_i): one rounding, IEEE specials, canonical NaN (ARITHMETIC.md 4). The datapath
// of fp8_mac and fp32_fma: decode, product, align, add, normalise, round, in any format of operands and
// accumulator. Latency PipeStages, one operation per cycle.
//
// Registers stand after align (PipeStages >= 1), after normalise (>= 2) and after the product (3). What a
// stage knows travels with its data.

module fp_mac #(
  parameter  int unsigned AExp          = 5,
  parameter  int unsigned AMan          = 2,
  parameter  int unsigned ABias         = 15,
  parameter  int unsigned ASpecials     = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned BExp          = 5,
  parameter  int unsigned BMan          = 2,
  parameter  int unsigned BBias         = 15,
  parameter  int unsigned BSpecials     = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned AccExp        = 8,
  parameter  int unsigned AccMan        = 23,
  parameter  int unsigned AccRound      = mantissa_pkg::RoundNe,
  parameter  int unsigned RndBits       = 0,  // 0 unless AccRound is RoundSr
  parameter  int unsigned PipeStages    = 0,
  parameter  int unsigned ExpW          = 9,  // signed exponents inside; 9 hold every exact FP32 product
  parameter  bit          AccSubnormals = 1'b1,  // 0: neither acc_i nor a sum is ever subnormal
  localparam int unsigned AccW          = 1 + AccExp + AccMan,
  localparam int unsigned ProdW         = AMan + BMan + 2,
  localparam int unsigned Keep          = AccMan + 1 + RndBits,
  localparam int unsigned Frame         = ((Keep > ProdW) ? Keep : ProdW) + 3,
  localparam int unsigned RndW          = (RndBits == 0) ? 1 : RndBits,
  localparam int unsigned ProductTapW   = 1 + ExpW + ProdW,
  localparam int unsigned AlignTapW     = ExpW + 1 + 2 * Frame,
  localparam int unsigned NormTapW      = Frame + 1 + 1 + ExpW + Frame,  // sum and normalised
  localparam int unsigned TapW          = ProductTapW + AlignTapW + NormTapW + AccW
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [AExp+AMan:0]   a_i,
  input  logic [BExp+BMan:0]   b_i,
  input  logic [AccW-1:0]      acc_i,
  input  logic [RndW-1:0]      rnd_i,  // counts only if AccRound is RoundSr

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [AccW-1:0]      acc_o,
  output mantissa_pkg::flags_t flags_o,
  output logic [TapW-1:0]      tap_o
);

  if (PipeStages > 3) begin : gen_bad_pipe_stages
    $error("fp_mac: PipeStages must be 0 to 3");
  end

  localparam int unsigned AccBias = (32'd1 << (AccExp - 1)) - 1;

  // ----------------------------------------------------------------------------------- product
  logic             neg, zero, inf, nan, invalid;
  logic [ExpW-1:0]  exp;
  logic [AMan:0]    a_sig;
  logic [BMan:0]    b_sig;
  logic [ProdW-1:0] raw;

  fp_mul_operands #(
    .AExp     (AExp),
    .AMan     (AMan),
    .ABias    (ABias),
    .ASpecials(ASpecials),
    .BExp     (BExp),
    .BMan     (BMan),
    .BBias    (BBias),
    .BSpecials(BSpecials),
    .ExpW     (ExpW)
  ) u_operands (
    .a_i,
    .b_i,
    .neg_o    (neg),
    .zero_o   (zero),
    .inf_o    (inf),
    .nan_o    (nan),
    .invalid_o(invalid),
    .exp_o    (exp),
    .a_sig_o  (a_sig),
    .b_sig_o  (b_sig)
  );

  typedef struct packed {
    logic             neg;
    logic             zero;
    logic             inf;
    logic             nan;
    logic             invalid;
    logic [ExpW-1:0]  exp;
    logic [ProdW-1:0] sig;
    logic [AccW-1:0]  acc;
    logic [RndW-1:0]  rnd;
  } product_t;
  localparam int unsigned ProductW = 5 + ExpW + ProdW + AccW + RndW;

  product_t product_d, product;
  logic     product_valid, product_ready;

  assign raw = ProdW'(a_sig) * ProdW'(b_sig);

  assign product_d.neg     = neg;
  assign product_d.zero    = zero;
  assign product_d.inf     = inf;
  assign product_d.nan     = nan;
  assign product_d.invalid = invalid;
  // Two significands in [1, 2) have a product in [1, 4): one place to normalise.
  assign product_d.exp     = exp + ExpW'(raw[ProdW-1]);
  assign product_d.sig     = raw[ProdW-1] ? raw : raw << 1;
  assign product_d.acc     = acc_i;
  assign product_d.rnd     = rnd_i;

  pipe_reg #(
    .Width (ProductW),
    .Enable(PipeStages >= 3)
  ) u_product_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (product_d),
    .valid_o(product_valid),
    .ready_i(product_ready),
    .data_o (product)
  );

  // ------------------------------------------------------------------------------------- align
  logic            acc_neg, acc_zero, acc_inf, acc_nan, acc_snan;
  logic [ExpW-1:0] acc_exp;
  logic [AccMan:0] acc_sig;

  fp_decode #(
    .Exp       (AccExp),
    .Man       (AccMan),
    .Bias      (AccBias),
    .ExpW      (ExpW),
    .Subnormals(AccSubnormals)
  ) u_decode_acc (
    .code_i(product.acc),
    .neg_o (acc_neg),
    .zero_o(acc_zero),
    .inf_o (acc_inf),
    .nan_o (acc_nan),
    .snan_o(acc_snan),
    .exp_o (acc_exp),
    .sig_o (acc_sig)
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
    special_t               special;
    logic                   neg;
    logic [ExpW-1:0]        exp;
    logic                   plain;    // both addends are finite and not zero
    logic                   subtract;
    logic [ExpW-1:0]        shift;
    logic [Frame-1:0]       larger;
    logic [Frame-1:0]       aligned;
    logic [RndW-1:0]        rnd;
    logic [ProductTapW-1:0] product_tap;
  } align_t;
  localparam int unsigned AlignW = SpecialW + 3 + 2 * ExpW + 2 * Frame + RndW + ProductTapW;

  align_t   align_d, align;
  special_t special;
  logic     opposite_infs;
  logic     product_plain;
  logic     align_valid, align_ready;

  assign opposite_infs = product.inf & acc_inf & (product.neg ^ acc_neg);
  assign product_plain = ~(product.zero | product.inf | product.nan);

  always_comb begin
    special.nan      = product.nan | acc_nan | opposite_infs;
    special.inf      = (product.inf | acc_inf) & ~special.nan;
    special.inf_neg  = product.inf ? product.neg : acc_neg;
    special.zero_neg = product.zero & acc_zero & product.neg & acc_neg;
    special.invalid  = product.invalid | acc_snan | opposite_infs;
  end

  fp_align #(
    .Frame(Frame),
    .ExpW (ExpW)
  ) u_align (
    .x_neg_i   (acc_neg),
    .x_zero_i  (acc_zero),
    .x_exp_i   (acc_exp),
    .x_sig_i   ({acc_sig, {Frame - AccMan - 1{1'b0}}}),
    .y_neg_i   (product.neg),
    .y_zero_i  (product.zero),
    .y_exp_i   (product.exp),
    .y_sig_i   ({product.sig, {Frame - ProdW{1'b0}}}),
    .neg_o     (align_d.neg),
    .exp_o     (align_d.exp),
    .subtract_o(align_d.subtract),
    .shift_o   (align_d.shift),
    .larger_o  (align_d.larger),
    .aligned_o (align_d.aligned)
  );

  assign align_d.special     = special;
  assign align_d.plain       = product_plain & ~(acc_zero | acc_inf | acc_nan);
  assign align_d.rnd         = product.rnd;
  assign align_d.product_tap =
      product_plain ? {product.neg, product.exp, product.sig} : '0;

  pipe_reg #(
    .Width (AlignW),
    .Enable(PipeStages >= 1)
  ) u_align_reg (
    .clk_i,
    .rst_ni,
    .valid_i(product_valid),
    .ready_o(product_ready),
    .data_i (align_d),
    .valid_o(align_valid),
    .ready_i(align_ready),
    .data_o (align)
  );

  // --------------------------------------------------------------------------- add, normalise
  typedef struct packed {
    special_t               special;
    logic                   neg;
    logic                   zero;
    logic [ExpW-1:0]        exp;
    logic [Frame-1:0]       sig;
    logic [RndW-1:0]        rnd;
    logic [ProductTapW-1:0] product_tap;
    logic [AlignTapW-1:0]   align_tap;
    logic [NormTapW-1:0]    norm_tap;
  } norm_t;
  localparam int unsigned NormW =
      SpecialW + 2 + ExpW + Frame + RndW + ProductTapW + AlignTapW + NormTapW;

  norm_t            norm_d, norm;
  logic [Frame:0]   sum;
  logic             sum_zero;
  logic [ExpW-1:0]  norm_exp;
  logic [Frame-1:0] norm_sig;
  logic             norm_valid;

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

  assign norm_d.special     = align.special;
  assign norm_d.neg         = align.special.inf ? align.special.inf_neg :
                              sum_zero          ? align.special.zero_neg : align.neg;
  assign norm_d.zero        = sum_zero;
  assign norm_d.exp         = norm_exp;
  assign norm_d.sig         = norm_sig;
  assign norm_d.rnd         = align.rnd;
  assign norm_d.product_tap = align.product_tap;
  assign norm_d.align_tap   =
      align.plain ? {align.shift, align.subtract, align.larger, align.aligned} : '0;
  assign norm_d.norm_tap    =
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
    .valid_o(norm_valid),
    .ready_i(ready_i),
    .data_o (norm)
  );

  // ------------------------------------------------------------------------------------- round
  mantissa_pkg::flags_t round_flags;

  fp_round #(
    .Exp       (AccExp),
    .Man       (AccMan),
    .Bias      (AccBias),
    .Round     (AccRound),
    .RndBits   (RndBits),
    .Frame     (Frame),
    .ExpW      (ExpW),
    .Subnormals(AccSubnormals)
  ) u_round (
    .neg_i  (norm.neg),
    .zero_i (norm.zero),
    .inf_i  (norm.special.inf),
    .nan_i  (norm.special.nan),
    .exp_i  (norm.exp),
    .sig_i  (norm.sig),
    .rnd_i  (norm.rnd),
    .code_o (acc_o),
    .flags_o(round_flags)
  );

  always_comb begin
    flags_o         = round_flags;
    flags_o.invalid = round_flags.invalid | norm.special.invalid;
  end

  assign valid_o = norm_valid;
  assign tap_o   = {norm.product_tap, norm.align_tap, norm.norm_tap, acc_o};

endmodule
