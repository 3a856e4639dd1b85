// SPDX-License-Identifier: Apache-2.0
//
// Product of two codes of up to 8 bits as FP32 (ARITHMETIC.md 4): exact, NaN canonical. Latency
// PipeStages (0 or 1), one operation per cycle. Every product of the two formats must be exact in
// FP32, so invalid (0 * Inf, a signalling NaN) is the only flag there is.

module fp8_mul #(
  parameter int unsigned AExp       = 5,
  parameter int unsigned AMan       = 2,
  parameter int unsigned ABias      = 15,
  parameter int unsigned ASpecials  = mantissa_pkg::SpecialsIeee,
  parameter int unsigned BExp       = 5,
  parameter int unsigned BMan       = 2,
  parameter int unsigned BBias      = 15,
  parameter int unsigned BSpecials  = mantissa_pkg::SpecialsIeee,
  parameter int unsigned PipeStages = 0
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  output logic               ready_o,
  input  logic [AExp+AMan:0] a_i,
  input  logic [BExp+BMan:0] b_i,

  output logic               valid_o,
  input  logic               ready_i,
  output logic [31:0]        p_o,
  output logic               invalid_o
);

  if (AExp + AMan > 7 || BExp + BMan > 7) begin : gen_bad_operands
    $error("fp8_mul: a and b have at most 8 bits");
  end

  if (PipeStages > 1) begin : gen_bad_pipe_stages
    $error("fp8_mul: PipeStages must be 0 or 1");
  end

  localparam int unsigned ExpW  = 9;  // holds every exact FP32 product
  localparam int unsigned ProdW = AMan + BMan + 2;

  // ---------------------------------------------------------------------------------- multiply
  typedef struct packed {
    logic             neg;
    logic             zero;
    logic             inf;
    logic             nan;
    logic             invalid;
    logic [ExpW-1:0]  exp;
    logic [ProdW-1:0] sig;
  } product_t;
  localparam int unsigned ProductW = 5 + ExpW + ProdW;

  logic             neg, zero, inf, nan, invalid;
  logic [ExpW-1:0]  exp;
  logic [AMan:0]    a_sig;
  logic [BMan:0]    b_sig;
  logic [ProdW-1:0] raw;
  product_t         product_d, product;

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

  assign raw = ProdW'(a_sig) * ProdW'(b_sig);

  assign product_d.neg     = neg;
  assign product_d.zero    = zero;
  assign product_d.inf     = inf;
  assign product_d.nan     = nan;
  assign product_d.invalid = invalid;
  // Two significands in [1, 2) have a product in [1, 4): one place to normalise.
  assign product_d.exp     = exp + ExpW'(raw[ProdW-1]);
  assign product_d.sig     = raw[ProdW-1] ? raw : raw << 1;

  pipe_reg #(
    .Width (ProductW),
    .Enable(PipeStages >= 1)
  ) u_product_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (product_d),
    .valid_o,
    .ready_i,
    .data_o (product)
  );

  // -------------------------------------------------------------------------------------- pack
  // The exponent of the smallest product, that of two smallest subnormals, decides at elaboration
  // whether a product can be subnormal in FP32.
  localparam bit Subnormal = (ABias + AMan + BBias + BMan - 2 > 126);

  logic [ExpW-1:0] biased;  // exponent field of a normal number, signed
  logic [30:0]     magnitude;

  assign biased = product.exp + ExpW'(127);

  if (Subnormal) begin : gen_subnormal
    logic            normal;
    logic [ExpW-1:0] depth;  // places below the smallest normal exponent
    logic [23:0]     placed;

    // Only zeros fall off. The hidden one of a normal number adds one to the exponent field.
    assign normal    = ~biased[ExpW-1] & (biased != '0);
    assign depth     = normal ? '0 : ExpW'(1) - biased;
    assign placed    = {product.sig, {24 - ProdW{1'b0}}} >> depth;
    assign magnitude = {normal ? biased[7:0] - 8'h1 : 8'h0, 23'h0} + 31'(placed);
  end else begin : gen_normal
    logic unused_bits;

    assign magnitude   = {biased[7:0], product.sig[ProdW-2:0], {24 - ProdW{1'b0}}};
    assign unused_bits = biased[ExpW-1] ^ product.sig[ProdW-1];
  end

  always_comb begin
    p_o = {product.neg, magnitude};
    if (product.nan) begin
      p_o = 32'h7FC0_0000;
    end else if (product.inf) begin
      p_o = {product.neg, 31'h7F80_0000};
    end else if (product.zero) begin
      p_o = {product.neg, 31'h0};
    end
  end

  assign invalid_o = product.invalid;

endmodule
