// SPDX-License-Identifier: Apache-2.0
//
// One step of an FP16 master weight and its FP32 momentum (ARITHMETIC.md 11): unscale, three fused
// multiply-adds in FP32, one rounding each, then one to FP16. One element per cycle, latency
// PipeStages (0 to 4): registers stand after the first, second and third multiply-add (PipeStages
// >= 1, 2, 3) and after the unscaling (4).
//
// A step that has to be skipped is known only when all its gradients have been seen. nonfinite_o
// tells of each one whether it is Inf or NaN; skip_i hands weight and momentum through as they are,
// without flags. So a controller sends the gradients with skip_i first, gathers nonfinite_o, and
// then sends them again.

module weight_update #(
  parameter  int unsigned Round           = mantissa_pkg::RoundNe,  // to nearest, or RoundSr of 13 bits
  parameter  int unsigned UnscaleByFactor = 0,                      // 1: not an exponent
  parameter  int unsigned PipeStages      = 0,
  localparam int unsigned RndBits         = (Round == mantissa_pkg::RoundSr) ? 13 : 0,
  localparam int unsigned RndW            = (RndBits == 0) ? 1 : RndBits,
  localparam int unsigned UnscaleW        = (UnscaleByFactor != 0) ? 32 : 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [15:0]          w_i,
  input  logic [31:0]          m_i,
  input  logic [31:0]          g_i,
  input  logic [31:0]          lr_i,
  input  logic [31:0]          mu_i,
  input  logic [31:0]          wd_i,
  input  logic [UnscaleW-1:0]  unscale_i,  // k, -127..128 modulo 256; or the factor, FP32
  input  logic [RndW-1:0]      rnd_i,      // counts only if Round is RoundSr
  input  logic                 skip_i,

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [15:0]          w_o,
  output logic [31:0]          m_o,
  output mantissa_pkg::flags_t flags_o,    // of the conversion to FP16
  output logic                 nonfinite_o
);

  if (PipeStages > 4) begin : gen_bad_pipe_stages
    $error("weight_update: PipeStages must be 0 to 4");
  end

  localparam bit ToNearest = 1'(mantissa_pkg::RoundNearest >> Round);
  if (!ToNearest && Round != mantissa_pkg::RoundSr) begin : gen_bad_round
    $error("weight_update: Round must be a mode to nearest, or RoundSr");
  end

  localparam int unsigned ExpW      = 10;  // holds the exponents of all FP32 products
  localparam int unsigned DecayTapW = 35 + 4 * 38 + 3 * ExpW + 36;  // of fp_mac, FP32 times FP16
  localparam int unsigned TapW      = 48 + 4 * 51 + 3 * ExpW + 36;  // FP32 times FP32

  // What every stage hands on.
  typedef struct packed {
    logic [15:0]     w;
    logic [31:0]     lr;
    logic [RndW-1:0] rnd;
    logic            skip;
    logic            nonfinite;
  } context_t;
  localparam int unsigned ContextW = 50 + RndW;

  // ------------------------------------------------------------------------------------ unscale
  typedef struct packed {
    context_t    ctx;
    logic [31:0] m;
    logic [31:0] g;  // g'
    logic [31:0] mu;
    logic [31:0] wd;
  } unscaled_t;
  localparam int unsigned UnscaledW = ContextW + 4 * 32;

  unscaled_t   unscaled_d, unscaled;
  context_t    context_in;
  logic [31:0] g_unscaled;
  logic        g_valid, g_ready;
  logic        unscaled_valid, unscaled_ready;

  mantissa_pkg::flags_t unused_unscale_flags;

  if (UnscaleByFactor != 0) begin : gen_factor
    fp32_mul u_unscale (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o,
      .a_i    (g_i),
      .b_i    (unscale_i),
      .valid_o(g_valid),
      .ready_i(g_ready),
      .z_o    (g_unscaled),
      .flags_o(unused_unscale_flags)
    );
  end else begin : gen_exponent
    // -k modulo 256 is a signed byte for every k: 128 becomes -128.
    quantizer #(
      .Exp (8),
      .Man (23),
      .Bias(127)
    ) u_unscale (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o,
      .x_i    (g_i),
      .scale_i(-unscale_i),
      .rnd_i  (1'b0),
      .valid_o(g_valid),
      .ready_i(g_ready),
      .code_o (g_unscaled),
      .flags_o(unused_unscale_flags)
    );
  end

  always_comb begin
    context_in.w         = w_i;
    context_in.lr        = lr_i;
    context_in.rnd       = rnd_i;
    context_in.skip      = skip_i;
    context_in.nonfinite = &g_i[30:23];
  end

  always_comb begin
    unscaled_d.ctx = context_in;
    unscaled_d.m   = m_i;
    unscaled_d.g   = g_unscaled;
    unscaled_d.mu  = mu_i;
    unscaled_d.wd  = wd_i;
  end

  pipe_reg #(
    .Width (UnscaledW),
    .Enable(PipeStages >= 4)
  ) u_unscaled_reg (
    .clk_i,
    .rst_ni,
    .valid_i(g_valid),
    .ready_o(g_ready),
    .data_i (unscaled_d),
    .valid_o(unscaled_valid),
    .ready_i(unscaled_ready),
    .data_o (unscaled)
  );

  // -------------------------------------------------------------------------------------- decay
  typedef struct packed {
    context_t    ctx;
    logic [31:0] m;
    logic [31:0] g;  // g''
    logic [31:0] mu;
  } decayed_t;
  localparam int unsigned DecayedW = ContextW + 3 * 32;

  decayed_t    decayed_d, decayed;
  logic [31:0] g_decayed;
  logic        decay_valid, decay_ready;
  logic        decayed_valid, decayed_ready;

  mantissa_pkg::flags_t unused_decay_flags;
  logic [DecayTapW-1:0] unused_decay_tap;

  // The weight goes in as it is, in FP16: 11 bits of multiplier instead of 24.
  fp_mac #(
    .AExp (8),
    .AMan (23),
    .ABias(127),
    .BExp (5),
    .BMan (10),
    .BBias(15),
    .ExpW (ExpW)
  ) u_decay (
    .clk_i,
    .rst_ni,
    .valid_i(unscaled_valid),
    .ready_o(unscaled_ready),
    .a_i    (unscaled.wd),
    .b_i    (unscaled.ctx.w),
    .acc_i  (unscaled.g),
    .rnd_i  (1'b0),
    .valid_o(decay_valid),
    .ready_i(decay_ready),
    .acc_o  (g_decayed),
    .flags_o(unused_decay_flags),
    .tap_o  (unused_decay_tap)
  );

  always_comb begin
    decayed_d.ctx = unscaled.ctx;
    decayed_d.m   = unscaled.m;
    decayed_d.g   = g_decayed;
    decayed_d.mu  = unscaled.mu;
  end

  pipe_reg #(
    .Width (DecayedW),
    .Enable(PipeStages >= 1)
  ) u_decayed_reg (
    .clk_i,
    .rst_ni,
    .valid_i(decay_valid),
    .ready_o(decay_ready),
    .data_i (decayed_d),
    .valid_o(decayed_valid),
    .ready_i(decayed_ready),
    .data_o (decayed)
  );

  // ----------------------------------------------------------------------------------- momentum
  typedef struct packed {
    context_t    ctx;
    logic [31:0] m;  // m', or m of a skipped step
  } moved_t;
  localparam int unsigned MovedW = ContextW + 32;

  moved_t      moved_d, moved;
  logic [31:0] m_next;
  logic        momentum_valid, momentum_ready;
  logic        moved_valid, moved_ready;

  mantissa_pkg::flags_t unused_momentum_flags;
  logic [TapW-1:0]      unused_momentum_tap;

  fp_mac #(
    .AExp (8),
    .AMan (23),
    .ABias(127),
    .BExp (8),
    .BMan (23),
    .BBias(127),
    .ExpW (ExpW)
  ) u_momentum (
    .clk_i,
    .rst_ni,
    .valid_i(decayed_valid),
    .ready_o(decayed_ready),
    .a_i    (decayed.mu),
    .b_i    (decayed.m),
    .acc_i  (decayed.g),
    .rnd_i  (1'b0),
    .valid_o(momentum_valid),
    .ready_i(momentum_ready),
    .acc_o  (m_next),
    .flags_o(unused_momentum_flags),
    .tap_o  (unused_momentum_tap)
  );

  always_comb begin
    moved_d.ctx = decayed.ctx;
    moved_d.m   = decayed.ctx.skip ? decayed.m : m_next;
  end

  pipe_reg #(
    .Width (MovedW),
    .Enable(PipeStages >= 2)
  ) u_moved_reg (
    .clk_i,
    .rst_ni,
    .valid_i(momentum_valid),
    .ready_o(momentum_ready),
    .data_i (moved_d),
    .valid_o(moved_valid),
    .ready_i(moved_ready),
    .data_o (moved)
  );

  // --------------------------------------------------------------------------------------- step
  logic [31:0] w_wide;

  fp_to_fp32 #(
    .Exp(5),
    .Man(10)
  ) u_widen_w (
    .code_i(moved.ctx.w),
    .fp32_o(w_wide)
  );

  typedef struct packed {
    logic [15:0]     w;
    logic [31:0]     m;
    logic [31:0]     w_next;  // in FP32
    logic [RndW-1:0] rnd;
    logic            skip;
    logic            nonfinite;
  } stepped_t;
  localparam int unsigned SteppedW = 82 + RndW;

  stepped_t    stepped_d, stepped;
  logic [31:0] w_next;
  logic        step_valid, step_ready;
  logic        stepped_valid, stepped_ready;

  mantissa_pkg::flags_t unused_step_flags;
  logic [TapW-1:0]      unused_step_tap;

  fp_mac #(
    .AExp (8),
    .AMan (23),
    .ABias(127),
    .BExp (8),
    .BMan (23),
    .BBias(127),
    .ExpW (ExpW)
  ) u_step (
    .clk_i,
    .rst_ni,
    .valid_i(moved_valid),
    .ready_o(moved_ready),
    .a_i    ({~moved.ctx.lr[31], moved.ctx.lr[30:0]}),
    .b_i    (moved.m),
    .acc_i  (w_wide),
    .rnd_i  (1'b0),
    .valid_o(step_valid),
    .ready_i(step_ready),
    .acc_o  (w_next),
    .flags_o(unused_step_flags),
    .tap_o  (unused_step_tap)
  );

  always_comb begin
    stepped_d.w         = moved.ctx.w;
    stepped_d.m         = moved.m;
    stepped_d.w_next    = w_next;
    stepped_d.rnd       = moved.ctx.rnd;
    stepped_d.skip      = moved.ctx.skip;
    stepped_d.nonfinite = moved.ctx.nonfinite;
  end

  pipe_reg #(
    .Width (SteppedW),
    .Enable(PipeStages >= 3)
  ) u_stepped_reg (
    .clk_i,
    .rst_ni,
    .valid_i(step_valid),
    .ready_o(step_ready),
    .data_i (stepped_d),
    .valid_o(stepped_valid),
    .ready_i(stepped_ready),
    .data_o (stepped)
  );

  // -------------------------------------------------------------------------------------- store
  logic [15:0]          w_stored;
  mantissa_pkg::flags_t store_flags;

  quantizer #(
    .Exp    (5),
    .Man    (10),
    .Bias   (15),
    .Round  (Round),
    .RndBits(RndBits)
  ) u_store (
    .clk_i,
    .rst_ni,
    .valid_i(stepped_valid),
    .ready_o(stepped_ready),
    .x_i    (stepped.w_next),
    .scale_i(8'h0),
    .rnd_i  (stepped.rnd),
    .valid_o,
    .ready_i,
    .code_o (w_stored),
    .flags_o(store_flags)
  );

  assign w_o         = stepped.skip ? stepped.w : w_stored;
  assign m_o         = stepped.m;
  assign flags_o     = stepped.skip ? '0 : store_flags;
  assign nonfinite_o = stepped.nonfinite;

endmodule
