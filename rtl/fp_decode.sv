// SPDX-License-Identifier: Apache-2.0
//
// The value of a code (ARITHMETIC.md 1): class, sign, exponent of the leading one, and the significand with
// that one on top, subnormals included. Combinational, exact. Subnormals = 0: there are none among the codes
// that come, so that nothing need be normalised.

module fp_decode #(
  parameter  int unsigned Exp        = 5,
  parameter  int unsigned Man        = 2,
  parameter  int unsigned Bias       = 15,
  parameter  int unsigned Specials   = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned ExpW       = 9,  // of exp_o, signed
  parameter  bit          Subnormals = 1'b1,
  localparam int unsigned Width      = 1 + Exp + Man
) (
  input  logic [Width-1:0] code_i,
  output logic             neg_o,
  output logic             zero_o,
  output logic             inf_o,
  output logic             nan_o,
  output logic             snan_o,
  output logic [ExpW-1:0]  exp_o,  // 0 unless finite and not zero
  output logic [Man:0]     sig_o   // 0 unless finite and not zero
);

  logic [Exp-1:0] field;
  logic [Man:0]   sig_raw;
  logic           subnormal;
  logic           mag_zero;

  assign field     = code_i[Width-2-:Exp];
  assign subnormal = (field == '0);
  assign mag_zero  = (code_i[Width-2:0] == '0);

  // ------------------------------------------------------------------------------------- class
  if (Man == 0) begin : gen_no_mantissa
    assign sig_raw = ~subnormal;
  end else begin : gen_mantissa
    assign sig_raw = {~subnormal, code_i[Man-1:0]};
  end

  if (Specials == mantissa_pkg::SpecialsIeee && Man > 0) begin : gen_ieee
    assign inf_o  = (&field) & (code_i[Man-1:0] == '0);
    assign nan_o  = (&field) & (code_i[Man-1:0] != '0);
    assign snan_o = nan_o & ~code_i[Man-1];
    assign zero_o = mag_zero;
    assign neg_o  = code_i[Width-1];
  end else if (Specials == mantissa_pkg::SpecialsFinite) begin : gen_finite
    assign inf_o  = 1'b0;
    assign nan_o  = 1'b0;
    assign snan_o = 1'b0;
    assign zero_o = mag_zero;
    assign neg_o  = code_i[Width-1];
  end else if (Specials == mantissa_pkg::SpecialsFnuz) begin : gen_fnuz
    assign inf_o  = 1'b0;
    assign nan_o  = code_i[Width-1] & mag_zero;
    assign snan_o = 1'b0;
    assign zero_o = ~code_i[Width-1] & mag_zero;
    assign neg_o  = code_i[Width-1];
  end else begin : gen_fn
    assign inf_o  = 1'b0;
    assign nan_o  = &code_i[Width-2:0];
    assign snan_o = 1'b0;
    assign zero_o = mag_zero;
    assign neg_o  = code_i[Width-1];
  end

  // --------------------------------------------------------------------- normalise subnormals
  logic            finite;
  logic [ExpW-1:0] exp_raw;

  assign finite  = ~(inf_o | nan_o | zero_o);
  assign exp_raw = ExpW'(field) + ExpW'(subnormal) - ExpW'(Bias);

  if (Man == 0 || !Subnormals) begin : gen_no_shift
    assign sig_o = finite ? sig_raw : '0;
    assign exp_o = finite ? exp_raw : '0;
  end else begin : gen_shift
    logic [$clog2(Man+1)-1:0] lead;
    logic [Man:0]             normalised;

    normalise #(
      .Width(Man + 1)
    ) u_normalise (
      .in_i   (sig_raw),
      .count_o(lead),
      .out_o  (normalised)
    );
    assign sig_o = finite ? normalised : '0;
    assign exp_o = finite ? exp_raw - ExpW'(lead) : '0;
  end

endmodule
