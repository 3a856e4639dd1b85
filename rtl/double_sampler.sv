// SPDX-License-Identifier: Apache-2.0
//
// Two stochastic roundings of one value to levels j * M / s (ARITHMETIC.md 10), as sign, the level
// below, and one bit per sample that goes up. |v_i| * inv_i is rounded to FP32; NaN gives 0 and
// invalid_o. One element per cycle, latency PipeStages (0 to 2): registers stand after the product
// (PipeStages >= 1) and after the conversion to fixed point (2).

module double_sampler #(
  parameter int unsigned RndBits    = 16,
  parameter int unsigned PipeStages = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          v_i,
  input  logic [31:0]          inv_i,  // fp32(s / M), its sign does not count; 0 stands for M = 0
  input  logic [7:0]           s_i,    // 1 or more
  input  logic [2*RndBits-1:0] rnd_i,  // the first draw in the low half

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic                 sign_o,
  output logic [7:0]           base_o,
  output logic [1:0]           up_o,
  output logic                 invalid_o
);

  if (RndBits < 1 || RndBits > 32) begin : gen_bad_rnd_bits
    $error("double_sampler: RndBits must be 1 to 32");
  end

  if (PipeStages > 2) begin : gen_bad_pipe_stages
    $error("double_sampler: PipeStages must be 0 to 2");
  end

  localparam int unsigned DrawsW = 2 * RndBits;

  // ------------------------------------------------------------------------------------ product
  typedef struct packed {
    logic              neg;
    logic              nan;       // v is NaN
    logic              no_scale;  // M = 0; any other M has s / M above 2^-128
    logic [30:0]       scaled;    // v' = fp32(|v| * inv)
    logic [7:0]        s;
    logic [DrawsW-1:0] rnd;
  } product_t;
  localparam int unsigned ProductW = 3 + 31 + 8 + DrawsW;

  product_t    product_d, product;
  logic [31:0] scaled;
  logic        scaled_valid, scaled_ready;
  logic        product_valid, product_ready;

  mantissa_pkg::flags_t unused_flags;
  logic                 unused_sign;

  fp32_mul u_multiply (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .a_i    (v_i),
    .b_i    (inv_i),
    .valid_o(scaled_valid),
    .ready_i(scaled_ready),
    .z_o    (scaled),
    .flags_o(unused_flags)
  );

  // The magnitude of a product does not depend on signs, so they leave only here.
  assign unused_sign = scaled[31];

  always_comb begin
    product_d.neg      = v_i[31];
    product_d.nan      = (&v_i[30:23]) & (v_i[22:0] != '0);
    product_d.no_scale = (inv_i[30:0] == '0);
    product_d.scaled   = scaled[30:0];
    product_d.s        = s_i;
    product_d.rnd      = rnd_i;
  end

  pipe_reg #(
    .Width (ProductW),
    .Enable(PipeStages >= 1)
  ) u_product_reg (
    .clk_i,
    .rst_ni,
    .valid_i(scaled_valid),
    .ready_o(scaled_ready),
    .data_i (product_d),
    .valid_o(product_valid),
    .ready_i(product_ready),
    .data_o (product)
  );

  // --------------------------------------------------------------------- level and what is above
  localparam int unsigned Frac = (RndBits > 24) ? RndBits : 24;

  typedef struct packed {
    logic               neg;
    logic               invalid;
    logic [7:0]         base;
    logic [RndBits-1:0] fraction;  // 0 at the top level: nothing goes up from there
    logic [DrawsW-1:0]  rnd;
  } level_t;
  localparam int unsigned LevelW = 10 + RndBits + DrawsW;

  level_t          level_d, level;
  logic            nan;
  logic            over;
  logic [7:0]      whole;
  logic [Frac-1:0] fraction;

  fp_to_fixed #(
    .Int (8),
    .Frac(Frac)
  ) u_fixed (
    .mag_i (product.scaled),
    .nan_o (nan),
    .over_o(over),
    .int_o (whole),
    .frac_o(fraction)
  );

  if (Frac > RndBits) begin : gen_below_draw
    logic unused_fraction;
    assign unused_fraction = ^fraction[Frac-RndBits-1:0];
  end

  always_comb begin
    level_d.neg      = product.neg;
    level_d.invalid  = 1'b0;
    level_d.base     = whole;
    level_d.fraction = fraction[Frac-1-:RndBits];
    level_d.rnd      = product.rnd;
    // With M = 0 the product of Inf and the register is NaN, but the sample is a plain zero.
    if (product.nan | product.no_scale | nan) begin
      level_d.neg      = 1'b0;
      level_d.invalid  = product.nan | ~product.no_scale;
      level_d.base     = '0;
      level_d.fraction = '0;
    end else if (over | (whole >= product.s)) begin
      level_d.base     = product.s;
      level_d.fraction = '0;
    end
  end

  pipe_reg #(
    .Width (LevelW),
    .Enable(PipeStages >= 2)
  ) u_level_reg (
    .clk_i,
    .rst_ni,
    .valid_i(product_valid),
    .ready_o(product_ready),
    .data_i (level_d),
    .valid_o,
    .ready_i,
    .data_o (level)
  );

  // -------------------------------------------------------------------------------- two samples
  for (genvar i = 0; i < 2; i++) begin : gen_sample
    logic [RndBits:0] sum;
    logic             unused_sum;

    assign sum        = {1'b0, level.fraction} + {1'b0, level.rnd[i*RndBits+:RndBits]};
    assign up_o[i]    = sum[RndBits];
    assign unused_sum = ^sum[RndBits-1:0];
  end

  assign sign_o    = level.neg;
  assign base_o    = level.base;
  assign invalid_o = level.invalid;

endmodule
