// SPDX-License-Identifier: Apache-2.0
//
// Stochastic pruning (ARITHMETIC.md 6): a magnitude below tau_i becomes tau_i or zero, so that
// its mean stays. Exact, no divider. One element per cycle, latency PipeStages (0 or 1); the
// register stands between the product and the comparison. The magnitudes are compared with each
// other only, so the format's bias does not matter.

module stochastic_pruner #(
  parameter  int unsigned Exp        = 8,
  parameter  int unsigned Man        = 23,
  parameter  int unsigned Specials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned RndBits    = 16,
  parameter  int unsigned PipeStages = 0,
  localparam int unsigned Width      = 1 + Exp + Man
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  output logic               ready_o,
  input  logic [Width-1:0]   g_i,
  input  logic [Width-1:0]   tau_i,  // finite; its sign does not count
  input  logic [RndBits-1:0] rnd_i,

  output logic               valid_o,
  input  logic               ready_i,
  output logic [Width-1:0]   g_o,
  output logic               nonzero_o,
  output logic [1:0]         outcome_o
);

  if (RndBits < 1 || RndBits > 32) begin : gen_bad_rnd_bits
    $error("stochastic_pruner: RndBits must be 1 to 32");
  end

  if (PipeStages > 1) begin : gen_bad_pipe_stages
    $error("stochastic_pruner: PipeStages must be 0 or 1");
  end

  localparam logic [1:0] ZeroIn   = 2'd0;
  localparam logic [1:0] Kept     = 2'd1;
  localparam logic [1:0] Snapped  = 2'd2;
  localparam logic [1:0] ZeroMade = 2'd3;

  localparam int unsigned SigW  = Man + 1;
  localparam int unsigned SideW = SigW + RndBits;

  // ------------------------------------------------------------------------------------- fields
  logic [Exp-1:0]   g_field, tau_field;
  logic [SigW-1:0]  g_sig, tau_sig;
  logic [Width-2:0] g_mag, tau_mag;
  logic             g_subnormal, tau_subnormal;
  logic             unused_tau_sign;

  assign g_mag           = g_i[Width-2:0];
  assign tau_mag         = tau_i[Width-2:0];
  assign unused_tau_sign = tau_i[Width-1];
  assign g_field         = g_mag[Width-2-:Exp];
  assign tau_field       = tau_mag[Width-2-:Exp];
  assign g_subnormal     = (g_field == '0);
  assign tau_subnormal   = (tau_field == '0);

  if (Man == 0) begin : gen_no_mantissa
    assign g_sig   = ~g_subnormal;
    assign tau_sig = ~tau_subnormal;
  end else begin : gen_mantissa
    assign g_sig   = {~g_subnormal, g_mag[Man-1:0]};
    assign tau_sig = {~tau_subnormal, tau_mag[Man-1:0]};
  end

  // ------------------------------------------------------------------------- both sides of >=
  typedef struct packed {
    logic [Width-1:0] g;
    logic [Width-2:0] tau;
    logic             zero;
    logic             keep;
    logic [SideW-1:0] scaled_g;
    logic [SideW-1:0] limit;
  } sides_t;
  localparam int unsigned SidesW = 2 * Width + 1 + 2 * SideW;

  sides_t           sides_d, sides;
  logic             fnuz_nan;
  logic [Exp-1:0]   distance;
  logic [RndBits:0] share;

  if (Specials == mantissa_pkg::SpecialsFnuz) begin : gen_fnuz
    assign fnuz_nan = g_i[Width-1] & (g_mag == '0);
  end else begin : gen_no_fnuz
    assign fnuz_nan = 1'b0;
  end

  // |g| * 2^r >= (2^r - R) * tau with |g| below tau, in units of g's last place: the right side
  // would move left by the distance of the exponents. An integer is at least another one times 2^d
  // iff its own quotient by 2^d, rounded down, is: the left side moves right instead, and what it
  // loses does not matter. Subnormals lie in the binade of field 1 without a hidden one; that needs
  // no normalising.
  assign distance = (tau_field | Exp'(tau_subnormal)) - (g_field | Exp'(g_subnormal));
  assign share    = {1'b1, {RndBits{1'b0}}} - {1'b0, rnd_i};

  always_comb begin
    sides_d.g        = g_i;
    sides_d.tau      = tau_mag;
    sides_d.zero     = (g_mag == '0) & ~fnuz_nan;
    sides_d.keep     = (g_mag >= tau_mag) | fnuz_nan;  // every other NaN, and Inf, is above tau
    sides_d.scaled_g = {g_sig, {RndBits{1'b0}}} >> distance;
    sides_d.limit    = SideW'(share) * SideW'(tau_sig);
  end

  pipe_reg #(
    .Width (SidesW),
    .Enable(PipeStages >= 1)
  ) u_sides_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (sides_d),
    .valid_o,
    .ready_i,
    .data_o (sides)
  );

  // ------------------------------------------------------------------------------------- choose
  always_comb begin
    g_o       = '0;
    outcome_o = ZeroMade;
    if (sides.zero) begin
      outcome_o = ZeroIn;
    end else if (sides.keep) begin
      g_o       = sides.g;
      outcome_o = Kept;
    end else if (sides.scaled_g >= sides.limit) begin
      g_o       = {sides.g[Width-1], sides.tau};
      outcome_o = Snapped;
    end
  end

  assign nonzero_o = (outcome_o == Kept) | (outcome_o == Snapped);

endmodule
