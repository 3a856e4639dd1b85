// SPDX-License-Identifier: Apache-2.0
//
// z_o = a_i * b_i in FP32 (ARITHMETIC.md 2): one rounding to nearest, NaN canonical, subnormals on.
// Latency PipeStages (0 to 2), one operation per cycle. Registers stand after the multiplication
// (PipeStages >= 1) and after decode (2).

module fp32_mul #(
  parameter int unsigned PipeStages = 0
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
  output mantissa_pkg::flags_t flags_o
);

  if (PipeStages > 2) begin : gen_bad_pipe_stages
    $error("fp32_mul: PipeStages must be 0 to 2");
  end

  localparam int unsigned ExpW  = 10;  // -298 to 255
  localparam int unsigned Frame = 26;  // 24 bits to keep, one to round, sticky

  // What is known of a product before the multiplication.
  typedef struct packed {
    logic            neg;
    logic            zero;
    logic            inf;
    logic            nan;
    logic            invalid;
    logic [ExpW-1:0] exp;
  } known_t;
  localparam int unsigned KnownW = 5 + ExpW;

  // ------------------------------------------------------------------------------------ decode
  typedef struct packed {
    known_t      known;
    logic [23:0] a_sig;
    logic [23:0] b_sig;
  } operands_t;
  localparam int unsigned OperandsW = KnownW + 48;

  logic            neg, zero, inf, nan, invalid;
  logic [ExpW-1:0] exp;
  logic [23:0]     a_sig, b_sig;
  operands_t       operands_d, operands;
  logic            operands_valid, operands_ready;

  fp_mul_operands #(
    .AExp (8),
    .AMan (23),
    .ABias(127),
    .BExp (8),
    .BMan (23),
    .BBias(127),
    .ExpW (ExpW)
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

  assign operands_d = {neg, zero, inf, nan, invalid, exp, a_sig, b_sig};

  pipe_reg #(
    .Width (OperandsW),
    .Enable(PipeStages >= 2)
  ) u_operands_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (operands_d),
    .valid_o(operands_valid),
    .ready_i(operands_ready),
    .data_o (operands)
  );

  // ----------------------------------------------------------------------- multiply, normalise
  typedef struct packed {
    known_t           known;
    logic [Frame-1:0] sig;
  } product_t;
  localparam int unsigned ProductW = KnownW + Frame;

  logic [47:0] raw;
  logic [47:0] normalised;
  product_t    product_d, product;

  // Two significands in [1, 2) have a product in [1, 4): one place to normalise.
  assign raw        = 48'(operands.a_sig) * 48'(operands.b_sig);
  assign normalised = raw[47] ? raw : raw << 1;

  always_comb begin
    product_d.known     = operands.known;
    product_d.known.exp = operands.known.exp + ExpW'(raw[47]);
    product_d.sig       = {normalised[47:23], normalised[22:0] != '0};
  end

  pipe_reg #(
    .Width (ProductW),
    .Enable(PipeStages >= 1)
  ) u_product_reg (
    .clk_i,
    .rst_ni,
    .valid_i(operands_valid),
    .ready_o(operands_ready),
    .data_i (product_d),
    .valid_o,
    .ready_i,
    .data_o (product)
  );

  // ------------------------------------------------------------------------------------- round
  mantissa_pkg::flags_t round_flags;

  fp_round #(
    .Frame(Frame),
    .ExpW (ExpW)
  ) u_round (
    .neg_i  (product.known.neg),
    .zero_i (product.known.zero),
    .inf_i  (product.known.inf),
    .nan_i  (product.known.nan),
    .exp_i  (product.known.exp),
    .sig_i  (product.sig),
    .rnd_i  (1'b0),
    .code_o (z_o),
    .flags_o(round_flags)
  );

  always_comb begin
    flags_o         = round_flags;
    flags_o.invalid = round_flags.invalid | product.known.invalid;
  end

endmodule
