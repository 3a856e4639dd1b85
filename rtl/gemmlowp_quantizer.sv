// SPDX-License-Identifier: Apache-2.0
//
// FP32 to an unsigned integer (ARITHMETIC.md 5): q = (x_i - min_i) * inv_i, rounded after the
// subtraction, after the product, and to an integer, then clamped. NaN gives 0 and invalid_o. One
// element per cycle, latency PipeStages (0 to 2): registers stand after the product
// (PipeStages >= 1) and after the subtraction (2).

module gemmlowp_quantizer #(
  parameter  int unsigned Bits       = 8,                      // 8 or 16
  parameter  int unsigned Round      = mantissa_pkg::RoundNe,  // to nearest, or RoundSr
  parameter  int unsigned RndBits    = 0,                      // 0 unless Round is RoundSr
  parameter  int unsigned PipeStages = 0,
  localparam int unsigned RndW       = (RndBits == 0) ? 1 : RndBits
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  input  logic            valid_i,
  output logic            ready_o,
  input  logic [31:0]     x_i,
  input  logic [31:0]     min_i,
  input  logic [31:0]     inv_i,  // fp32(1 / scale)
  input  logic [RndW-1:0] rnd_i,  // counts only if Round is RoundSr

  output logic            valid_o,
  input  logic            ready_i,
  output logic [Bits-1:0] q_o,
  output logic            invalid_o
);

  if (PipeStages > 2) begin : gen_bad_pipe_stages
    $error("gemmlowp_quantizer: PipeStages must be 0 to 2");
  end

  localparam bit ToNearest = 1'(mantissa_pkg::RoundNearest >> Round);
  localparam bit TieOddUp  = 1'(mantissa_pkg::RoundTieOddUp >> Round);
  localparam bit TieEvenUp = 1'(mantissa_pkg::RoundTieEvenUp >> Round);

  if (!ToNearest && Round != mantissa_pkg::RoundSr) begin : gen_bad_round
    $error("gemmlowp_quantizer: Round must be a mode to nearest, or RoundSr");
  end

  // ---------------------------------------------------------------------------------- subtract
  typedef struct packed {
    logic [31:0]     offset;  // fp32(x - min)
    logic [31:0]     inv;
    logic [RndW-1:0] rnd;
  } offset_t;
  localparam int unsigned OffsetW = 64 + RndW;
  localparam int unsigned TapW    = 2 * 9 + 4 * 27 + 3 + 32;  // of fp32_add

  offset_t     offset_d, offset;
  logic [31:0] difference;
  logic        difference_valid, difference_ready;
  logic        offset_valid, offset_ready;

  mantissa_pkg::flags_t unused_add_flags;
  logic [TapW-1:0]      unused_add_tap;

  fp32_add u_subtract (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .a_i    (x_i),
    .b_i    ({~min_i[31], min_i[30:0]}),
    .valid_o(difference_valid),
    .ready_i(difference_ready),
    .z_o    (difference),
    .flags_o(unused_add_flags),
    .tap_o  (unused_add_tap)
  );

  always_comb begin
    offset_d.offset = difference;
    offset_d.inv    = inv_i;
    offset_d.rnd    = rnd_i;
  end

  pipe_reg #(
    .Width (OffsetW),
    .Enable(PipeStages >= 2)
  ) u_offset_reg (
    .clk_i,
    .rst_ni,
    .valid_i(difference_valid),
    .ready_o(difference_ready),
    .data_i (offset_d),
    .valid_o(offset_valid),
    .ready_i(offset_ready),
    .data_o (offset)
  );

  // ---------------------------------------------------------------------------------- multiply
  typedef struct packed {
    logic [31:0]     steps;  // t = fp32(offset * inv)
    logic [RndW-1:0] rnd;
  } steps_t;
  localparam int unsigned StepsW = 32 + RndW;

  steps_t      steps_d, steps;
  logic [31:0] product;
  logic        product_valid, product_ready;

  mantissa_pkg::flags_t unused_mul_flags;

  fp32_mul u_multiply (
    .clk_i,
    .rst_ni,
    .valid_i(offset_valid),
    .ready_o(offset_ready),
    .a_i    (offset.offset),
    .b_i    (offset.inv),
    .valid_o(product_valid),
    .ready_i(product_ready),
    .z_o    (product),
    .flags_o(unused_mul_flags)
  );

  always_comb begin
    steps_d.steps = product;
    steps_d.rnd   = offset.rnd;
  end

  pipe_reg #(
    .Width (StepsW),
    .Enable(PipeStages >= 1)
  ) u_steps_reg (
    .clk_i,
    .rst_ni,
    .valid_i(product_valid),
    .ready_o(product_ready),
    .data_i (steps_d),
    .valid_o,
    .ready_i,
    .data_o (steps)
  );

  // ---------------------------------------------------------------------- round to an integer
  localparam int unsigned Frac = (RndBits > 24) ? RndBits : 24;

  logic            nan;
  logic            over;
  logic [Bits-1:0] whole;
  logic [Frac-1:0] fraction;
  logic            up;

  fp_to_fixed #(
    .Int (Bits),
    .Frac(Frac)
  ) u_fixed (
    .mag_i (steps.steps[30:0]),
    .nan_o (nan),
    .over_o(over),
    .int_o (whole),
    .frac_o(fraction)
  );

  if (Round == mantissa_pkg::RoundSr) begin : gen_stochastic
    logic [RndBits:0] sum;
    assign sum = {1'b0, fraction[Frac-1-:RndBits]} + {1'b0, steps.rnd};
    assign up  = sum[RndBits];

    logic unused_sum;
    assign unused_sum = ^sum[RndBits-1:0];
    if (Frac > RndBits) begin : gen_below_draw
      logic unused_fraction;
      assign unused_fraction = ^fraction[Frac-RndBits-1:0];
    end
  end else if (ToNearest) begin : gen_nearest
    // The fraction is exact wherever its first bit is set: a tie is a tie.
    logic unused_rnd;
    assign up         = fraction[Frac-1] &
        ((fraction[Frac-2:0] != '0) | (whole[0] ? TieOddUp : TieEvenUp));
    assign unused_rnd = ^steps.rnd;
  end

  always_comb begin
    q_o       = whole + Bits'(up);
    invalid_o = nan;
    if (nan | steps.steps[31]) begin
      q_o = '0;
    end else if (over | (&whole)) begin
      q_o = '1;
    end
  end

endmodule
