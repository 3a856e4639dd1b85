// SPDX-License-Identifier: Apache-2.0
//
// First half of a multiplier: two codes decoded, and all of their product that needs no
// multiplication (ARITHMETIC.md 4). Combinational, exact.

module fp_mul_operands #(
  parameter int unsigned AExp      = 5,
  parameter int unsigned AMan      = 2,
  parameter int unsigned ABias     = 15,
  parameter int unsigned ASpecials = mantissa_pkg::SpecialsIeee,
  parameter int unsigned BExp      = 5,
  parameter int unsigned BMan      = 2,
  parameter int unsigned BBias     = 15,
  parameter int unsigned BSpecials = mantissa_pkg::SpecialsIeee,
  parameter int unsigned ExpW      = 9
) (
  input  logic [AExp+AMan:0] a_i,
  input  logic [BExp+BMan:0] b_i,

  output logic               neg_o,
  output logic               zero_o,
  output logic               inf_o,
  output logic               nan_o,
  output logic               invalid_o,  // 0 * Inf, or a signalling NaN
  output logic [ExpW-1:0]    exp_o,      // sum of the exponents, signed
  output logic [AMan:0]      a_sig_o,    // leading one on top; 0 unless finite and not zero
  output logic [BMan:0]      b_sig_o
);

  // Operands of up to 8 bits are those of fp8_mul and fp8_mac: every product must be exact in FP32, from
  // the place of the smallest one's last bit to that of the largest one's first.
  localparam bit          Narrow  = (AExp + AMan < 8) && (BExp + BMan < 8);
  localparam int          Places  = ABias + AMan + BBias + BMan;
  localparam int          Bottom  = 2 - Places;
  localparam int unsigned AMax    = (32'd1 << (AExp + AMan)) - 1 -
      ((ASpecials == mantissa_pkg::SpecialsIeee) ? (32'd1 << AMan) :
       (ASpecials == mantissa_pkg::SpecialsFn) ? 1 : 0);
  localparam int unsigned BMax    = (32'd1 << (BExp + BMan)) - 1 -
      ((BSpecials == mantissa_pkg::SpecialsIeee) ? (32'd1 << BMan) :
       (BSpecials == mantissa_pkg::SpecialsFn) ? 1 : 0);
  localparam int unsigned AField  = AMax >> AMan;
  localparam int unsigned BField  = BMax >> BMan;
  localparam int unsigned ASig    = AMax - ((AField - 1) << AMan);
  localparam int unsigned BSig    = BMax - ((BField - 1) << BMan);
  localparam int          Fields  = AField + BField;
  localparam int          Top     = $clog2(ASig * BSig + 1) - 1 + Fields - Places;
  if (Narrow && (Bottom < -149 || Top > 127)) begin : gen_bad_range
    $error("fp_mul_operands: not every product of these formats is exact in FP32");
  end

  logic            a_neg, a_zero, a_inf, a_nan, a_snan;
  logic            b_neg, b_zero, b_inf, b_nan, b_snan;
  logic [ExpW-1:0] a_exp, b_exp;
  logic            zero_times_inf;

  fp_decode #(
    .Exp     (AExp),
    .Man     (AMan),
    .Bias    (ABias),
    .Specials(ASpecials),
    .ExpW    (ExpW)
  ) u_decode_a (
    .code_i(a_i),
    .neg_o (a_neg),
    .zero_o(a_zero),
    .inf_o (a_inf),
    .nan_o (a_nan),
    .snan_o(a_snan),
    .exp_o (a_exp),
    .sig_o (a_sig_o)
  );

  fp_decode #(
    .Exp     (BExp),
    .Man     (BMan),
    .Bias    (BBias),
    .Specials(BSpecials),
    .ExpW    (ExpW)
  ) u_decode_b (
    .code_i(b_i),
    .neg_o (b_neg),
    .zero_o(b_zero),
    .inf_o (b_inf),
    .nan_o (b_nan),
    .snan_o(b_snan),
    .exp_o (b_exp),
    .sig_o (b_sig_o)
  );

  assign zero_times_inf = (a_zero & b_inf) | (a_inf & b_zero);

  assign neg_o     = a_neg ^ b_neg;
  assign nan_o     = a_nan | b_nan | zero_times_inf;
  assign inf_o     = (a_inf | b_inf) & ~nan_o;
  assign zero_o    = (a_zero | b_zero) & ~nan_o;
  assign invalid_o = zero_times_inf | a_snan | b_snan;
  assign exp_o     = a_exp + b_exp;

endmodule
