// SPDX-License-Identifier: Apache-2.0
//
// Rounds an exact value to a format (ARITHMETIC.md 2): one rounding, NaN canonical, all flags but
// divide-by-zero. Combinational. The significand has its leading one on top and a sticky bit 0; it must have
// at least Man + 1 + RndBits + 2 bits. Subnormals = 0: no value that comes is below the smallest normal number.

module fp_round #(
  parameter  int unsigned Exp        = 8,
  parameter  int unsigned Man        = 23,
  parameter  int unsigned Bias       = 127,
  parameter  int unsigned Specials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned Round      = mantissa_pkg::RoundNe,
  parameter  int unsigned RndBits    = 0,     // of rnd_i that count; 0 unless Round is RoundSr
  parameter  bit          Saturate   = 1'b0,  // overflow gives the largest finite number
  parameter  int unsigned Frame      = 27,
  parameter  int unsigned ExpW       = 9,
  parameter  bit          Subnormals = 1'b1,
  localparam int unsigned Width      = 1 + Exp + Man,
  localparam int unsigned RndW       = (RndBits == 0) ? 1 : RndBits
) (
  input  logic             neg_i,
  input  logic             zero_i,
  input  logic             inf_i,
  input  logic             nan_i,
  input  logic [ExpW-1:0]  exp_i,  // of the leading one, signed
  input  logic [Frame-1:0] sig_i,
  input  logic [RndW-1:0]  rnd_i,

  output logic [Width-1:0]     code_o,
  output mantissa_pkg::flags_t flags_o
);

  if (Round >= mantissa_pkg::RoundModes) begin : gen_bad_round
    $error("fp_round: Round must be a mode of mantissa_pkg");
  end

  if ((Round == mantissa_pkg::RoundSr) != (RndBits > 0)) begin : gen_bad_rnd_bits
    $error("fp_round: RndBits must be 1 or more for RoundSr, 0 otherwise");
  end

  localparam int unsigned Drop     = Frame - 1 - Man;  // bits below the last place of a normal number
  localparam bit          Ieee     = (Specials == mantissa_pkg::SpecialsIeee);
  localparam bit          HasInf   = Ieee && (Man > 0);
  localparam bit          HasNan   = (Specials != mantissa_pkg::SpecialsFinite);
  localparam bit          HasNegZero = (Specials != mantissa_pkg::SpecialsFnuz);
  localparam bit          ToNearest  = 1'(mantissa_pkg::RoundNearest >> Round);
  localparam bit          TieOddUp   = 1'(mantissa_pkg::RoundTieOddUp >> Round);
  localparam bit          TieEvenUp  = 1'(mantissa_pkg::RoundTieEvenUp >> Round);
  localparam bit          StopsAtMax = 1'(mantissa_pkg::RoundStopsAtMax >> Round);

  localparam logic [Width-2:0] AllOnes = {Width - 1{1'b1}};
  localparam logic [Width-2:0] InfCode = AllOnes << Man;
  localparam logic [Width-2:0] MaxCode = Ieee ? InfCode - 1'b1 :
      (Specials == mantissa_pkg::SpecialsFn) ? AllOnes - 1'b1 : AllOnes;
  localparam logic [Width-1:0] NanCode =
      Ieee ? ({1'b0, InfCode} | ((Man > 0) ? Width'(1) << (Man - 1) : '0)) :
      (Specials == mantissa_pkg::SpecialsFnuz) ? Width'(1) << (Width - 1) : {1'b0, AllOnes};

  // --------------------------------------------------------- place: the format's spacing at |x|
  logic            below;      // the exponent is below that of the smallest normal number
  logic [ExpW-1:0] depth;      // by how much
  logic [ExpW-1:0] exp_field;  // biased exponent, 0 for subnormals
  logic [Frame-1:0] placed;
  logic            lost;

  assign depth     = ExpW'(1) - ExpW'(Bias) - exp_i;
  assign below     = Subnormals && ~depth[ExpW-1] && (depth != '0);
  assign exp_field = below ? '0 : exp_i + ExpW'(Bias);
  always_comb begin
    placed = sig_i;
    lost   = 1'b0;
    if (below) begin
      placed = (depth >= ExpW'(Frame)) ? '0 : sig_i >> depth;
      lost   = (depth >= ExpW'(Frame)) | ((sig_i & ~({Frame{1'b1}} << depth)) != '0);
    end
  end

  // -------------------------------------------------------------------- up or down, twice: at the
  // format's spacing for the result, at the value's own binade for the question whether it is tiny
  logic up;
  logic inexact;
  logic own_up;

  assign inexact = (placed[Drop-1:0] != '0) | lost;

  if (ToNearest) begin : gen_nearest
    logic half;
    logic rest;
    assign half   = placed[Drop-1];
    assign rest   = (placed[Drop-2:0] != '0) | lost;
    assign up     = half & (rest | (placed[Drop] ? TieOddUp : TieEvenUp));
    // Asked only where all bits above are ones: an odd number.
    assign own_up = sig_i[Drop-1] & ((sig_i[Drop-2:0] != '0) | TieOddUp);
  end else if (Round == mantissa_pkg::RoundSr) begin : gen_stochastic
    logic [RndBits:0] sum;
    logic [RndBits:0] own_sum;
    assign sum     = {1'b0, placed[Drop-1-:RndBits]} + {1'b0, rnd_i};
    assign own_sum = {1'b0, sig_i[Drop-1-:RndBits]} + {1'b0, rnd_i};
    assign up      = sum[RndBits];
    assign own_up  = own_sum[RndBits];
  end else if (Round == mantissa_pkg::RoundTz) begin : gen_toward_zero
    assign up     = 1'b0;
    assign own_up = 1'b0;
  end

  if (Round != mantissa_pkg::RoundSr) begin : gen_no_draw
    logic unused_rnd;
    assign unused_rnd = ^rnd_i;
  end

  // A carry runs into the exponent field. The leading one of a normal number is not written; that of a
  // subnormal number that rounds up to the smallest normal one is the carry.
  localparam int unsigned SumW = ExpW + Man;
  localparam logic [SumW-1:0] Hidden = SumW'(1) << Man;
  logic [SumW-1:0] magnitude;
  logic            overflow;
  logic            tiny;

  assign magnitude =
      ((SumW'(exp_field) << Man) | (SumW'(placed[Frame-1:Drop]) & ~Hidden)) + SumW'(up);
  assign overflow  = magnitude > SumW'(MaxCode);
  assign tiny      = below & ~((depth == ExpW'(1)) & (&sig_i[Frame-1:Drop]) & own_up);

  // ------------------------------------------------------------------------------------- pack
  logic [Width-1:0] signed_max;
  logic [Width-1:0] infinite;

  assign signed_max = {neg_i, MaxCode};
  assign infinite   = (Saturate || !HasNan) ? signed_max : HasInf ? {neg_i, InfCode} : NanCode;

  always_comb begin
    code_o  = {neg_i & (HasNegZero | (magnitude != '0)), magnitude[Width-2:0]};
    flags_o = '0;
    if (nan_i) begin
      code_o          = HasNan ? NanCode : {1'b0, MaxCode};
      flags_o.invalid = !HasNan;
    end else if (inf_i) begin
      code_o           = infinite;
      flags_o.overflow = !HasInf || Saturate;
      flags_o.inexact  = !HasInf || Saturate;
    end else if (zero_i) begin
      code_o = {neg_i & HasNegZero, {Width - 1{1'b0}}};
    end else if (overflow) begin
      code_o           = StopsAtMax ? signed_max : infinite;
      flags_o.overflow = 1'b1;
      flags_o.inexact  = 1'b1;
    end else begin
      flags_o.inexact   = inexact;
      flags_o.underflow = inexact & tiny;
    end
  end

endmodule
