// SPDX-License-Identifier: Apache-2.0
//
// A code of a narrower IEEE-style format as FP32 (ARITHMETIC.md 1). Combinational, exact. NaN is
// canonical, except with 8 exponent bits, where it keeps its payload.

module fp_to_fp32 #(
  parameter int unsigned Exp = 5,
  parameter int unsigned Man = 10
) (
  input  logic [Exp+Man:0] code_i,
  output logic [31:0]      fp32_o
);

  if (Exp == 8 && Man > 0) begin : gen_pad
    // The same exponents: only the mantissa grows, for subnormals too.
    assign fp32_o = 32'(code_i) << (23 - Man);
  end else begin : gen_rebias
    localparam int unsigned ExpW = 9;
    localparam int unsigned Bias = (32'd1 << (Exp - 1)) - 1;

    logic            neg, zero, inf, nan, unused_snan;
    logic [ExpW-1:0] exp;
    logic [ExpW-1:0] field;
    logic [Man:0]    sig;
    logic [22:0]     mantissa;

    fp_decode #(
      .Exp (Exp),
      .Man (Man),
      .Bias(Bias),
      .ExpW(ExpW)
    ) u_decode (
      .code_i(code_i),
      .neg_o (neg),
      .zero_o(zero),
      .inf_o (inf),
      .nan_o (nan),
      .snan_o(unused_snan),
      .exp_o (exp),
      .sig_o (sig)
    );

    // What is subnormal with at most 7 exponent bits, or without a mantissa, is a normal FP32 number.
    assign field = exp + ExpW'(127);
    if (Man == 0) begin : gen_no_mantissa
      assign mantissa = '0;
    end else begin : gen_mantissa
      assign mantissa = 23'(sig[Man-1:0]) << (23 - Man);
    end

    always_comb begin
      fp32_o = {neg, field[7:0], mantissa};
      if (nan)       fp32_o = 32'h7FC0_0000;
      else if (inf)  fp32_o = {neg, 8'hFF, 23'h0};
      else if (zero) fp32_o = {neg, 31'h0};
    end

    logic unused_bits;
    assign unused_bits = sig[Man] ^ field[ExpW-1];
  end

endmodule
