// SPDX-License-Identifier: Apache-2.0
//
// Multiply-accumulate of two codes of up to 8 bits (ARITHMETIC.md 4): one rounding, NaN canonical. Stateless;
// latency PipeStages (0 to 3), one operation per cycle. The product of the two formats must be exact in FP32.

module fp8_mac #(
  parameter  int unsigned AExp       = 5,
  parameter  int unsigned AMan       = 2,
  parameter  int unsigned ABias      = 15,
  parameter  int unsigned ASpecials  = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned BExp       = 5,
  parameter  int unsigned BMan       = 2,
  parameter  int unsigned BBias      = 15,
  parameter  int unsigned BSpecials  = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned AccExp     = 8,
  parameter  int unsigned AccMan     = 23,
  parameter  int unsigned AccRound   = mantissa_pkg::RoundNe,
  parameter  int unsigned RndBits    = 0,  // 0 unless AccRound is RoundSr
  parameter  int unsigned PipeStages = 0,
  localparam int unsigned ExpW       = 9,
  localparam int unsigned ProdW      = AMan + BMan + 2,
  localparam int unsigned Keep       = AccMan + 1 + RndBits,
  localparam int unsigned Frame      = ((Keep > ProdW) ? Keep : ProdW) + 3,
  localparam int unsigned RndW       = (RndBits == 0) ? 1 : RndBits,
  localparam int unsigned TapW       = ProdW + 4 * Frame + 3 * ExpW + 5 + AccExp + AccMan
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [AExp+AMan:0]     a_i,
  input  logic [BExp+BMan:0]     b_i,
  input  logic [AccExp+AccMan:0] acc_i,
  input  logic [RndW-1:0]        rnd_i,

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [AccExp+AccMan:0] acc_o,
  output mantissa_pkg::flags_t   flags_o,
  output logic [TapW-1:0]        tap_o
);

  if (AExp + AMan > 7 || BExp + BMan > 7) begin : gen_bad_operands
    $error("fp8_mac: a and b have at most 8 bits");
  end

  fp_mac #(
    .AExp      (AExp),
    .AMan      (AMan),
    .ABias     (ABias),
    .ASpecials (ASpecials),
    .BExp      (BExp),
    .BMan      (BMan),
    .BBias     (BBias),
    .BSpecials (BSpecials),
    .AccExp    (AccExp),
    .AccMan    (AccMan),
    .AccRound  (AccRound),
    .RndBits   (RndBits),
    .PipeStages(PipeStages),
    .ExpW      (ExpW)
  ) u_mac (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .a_i,
    .b_i,
    .acc_i,
    .rnd_i,
    .valid_o,
    .ready_i,
    .acc_o,
    .flags_o,
    .tap_o
  );

endmodule
