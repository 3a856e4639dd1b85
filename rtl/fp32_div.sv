// SPDX-License-Identifier: Apache-2.0
//
// z_o = a_i / b_i in FP32 (ARITHMETIC.md 2): one rounding to nearest, NaN canonical, subnormals on.
// Sequential, one quotient bit per cycle, one operation at a time. Latency 27 for all operands: one
// cycle to load, 26 for the quotient. The result stands until it is taken; the next operation may
// enter in the cycle after.

module fp32_div (
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

  localparam int unsigned ExpW      = 10;  // -277 to 276
  localparam int unsigned QuotientW = 26;  // below 1 the top bit is 0, then 24 to keep, 1 to round
  localparam int unsigned Frame     = QuotientW + 1;  // and sticky

  // ------------------------------------------------------------------------------------ decode
  logic            a_neg, a_zero, a_inf, a_nan, a_snan;
  logic            b_neg, b_zero, b_inf, b_nan, b_snan;
  logic [ExpW-1:0] a_exp, b_exp;
  logic [23:0]     a_sig, b_sig;

  fp_decode #(
    .Exp (8),
    .Man (23),
    .Bias(127),
    .ExpW(ExpW)
  ) u_decode_a (
    .code_i(a_i),
    .neg_o (a_neg),
    .zero_o(a_zero),
    .inf_o (a_inf),
    .nan_o (a_nan),
    .snan_o(a_snan),
    .exp_o (a_exp),
    .sig_o (a_sig)
  );

  fp_decode #(
    .Exp (8),
    .Man (23),
    .Bias(127),
    .ExpW(ExpW)
  ) u_decode_b (
    .code_i(b_i),
    .neg_o (b_neg),
    .zero_o(b_zero),
    .inf_o (b_inf),
    .nan_o (b_nan),
    .snan_o(b_snan),
    .exp_o (b_exp),
    .sig_o (b_sig)
  );

  // What is known of a quotient before the division.
  typedef struct packed {
    logic            neg;
    logic            zero;
    logic            inf;
    logic            nan;
    logic            invalid;
    logic            divide_by_zero;
    logic [ExpW-1:0] exp;
  } known_t;

  known_t known;
  logic   no_quotient;  // 0/0, Inf/Inf

  assign no_quotient = (a_zero & b_zero) | (a_inf & b_inf);

  always_comb begin
    known.neg            = a_neg ^ b_neg;
    known.nan            = a_nan | b_nan | no_quotient;
    known.inf            = (a_inf | b_zero) & ~known.nan;
    known.zero           = (a_zero | b_inf) & ~known.nan;
    known.invalid        = a_snan | b_snan | no_quotient;
    known.divide_by_zero = b_zero & ~(a_zero | a_inf | a_nan);
    known.exp            = a_exp - b_exp;
  end

  // ------------------------------------------------------------------------------------ divide
  // Schoolbook division: subtract the divisor where it fits, shift. The remainder stays below twice
  // the divisor. A one runs ahead of the quotient's bits; when it reaches the top, all are there.
  logic               busy_d, busy_q;
  known_t             known_d, known_q;
  logic [23:0]        divisor_d, divisor_q;
  logic [24:0]        remainder_d, remainder_q;
  logic [QuotientW:0] quotient_d, quotient_q;
  logic [23:0]        rest;
  logic               fits;
  logic               done;

  assign fits = (remainder_q >= {1'b0, divisor_q});
  assign rest = remainder_q[23:0] - (fits ? divisor_q : 24'h0);
  assign done = quotient_q[QuotientW];

  assign ready_o = ~busy_q;
  assign valid_o = busy_q & done;

  always_comb begin
    busy_d      = busy_q;
    known_d     = known_q;
    divisor_d   = divisor_q;
    remainder_d = remainder_q;
    quotient_d  = quotient_q;
    if (!busy_q) begin
      if (valid_i) begin
        busy_d      = 1'b1;
        known_d     = known;
        divisor_d   = b_sig;
        remainder_d = {1'b0, a_sig};
        quotient_d  = {{QuotientW{1'b0}}, 1'b1};
      end
    end else if (!done) begin
      remainder_d = {rest, 1'b0};
      quotient_d  = {quotient_q[QuotientW-1:0], fits};
    end else if (ready_i) begin
      busy_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      known_q     <= '0;
      divisor_q   <= '0;
      remainder_q <= '0;
      quotient_q  <= '0;
    end else begin
      busy_q      <= busy_d;
      known_q     <= known_d;
      divisor_q   <= divisor_d;
      remainder_q <= remainder_d;
      quotient_q  <= quotient_d;
    end
  end

  // -------------------------------------------------------------------------- normalise, round
  logic                 below_one;
  logic [Frame-1:0]     sig;
  mantissa_pkg::flags_t round_flags;

  assign below_one = ~quotient_q[QuotientW-1];
  assign sig       = {quotient_q[QuotientW-1:0], remainder_q != '0} << below_one;

  fp_round #(
    .Frame(Frame),
    .ExpW (ExpW)
  ) u_round (
    .neg_i  (known_q.neg),
    .zero_i (known_q.zero),
    .inf_i  (known_q.inf),
    .nan_i  (known_q.nan),
    .exp_i  (known_q.exp - ExpW'(below_one)),
    .sig_i  (sig),
    .rnd_i  (1'b0),
    .code_o (z_o),
    .flags_o(round_flags)
  );

  always_comb begin
    flags_o                = round_flags;
    flags_o.invalid        = round_flags.invalid | known_q.invalid;
    flags_o.divide_by_zero = known_q.divide_by_zero;
  end

endmodule
