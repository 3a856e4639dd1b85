// SPDX-License-Identifier: Apache-2.0
//
// Range batch normalisation of one channel, forward (ARITHMETIC.md 8): FP32, every operation
// rounded on its own, y fused. The channel is streamed twice and nothing of it is stored; one
// element per cycle in each pass, 34 cycles between them (the division has 27), latency of a result
// 3.
//
// Pass 1 gives a BnIndices result per chunk and, at its end, BnSaved; pass 2 gives y. Every channel
// ends with one result that has last_o. mode_i also allows one pass alone: in the 8-bit mode the
// inv of all channels is quantized between the passes.
//
// Everything next to x_i belongs to the channel and is the same with each of its elements. The last
// element of pass 1 stays at the input until the statistics are done, so that the registers need no
// copy here.

module range_bn_forward #(
  parameter int unsigned IndexBits = 20  // n < 2^IndexBits, at most 32
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [31:0]            x_i,
  input  mantissa_pkg::bn_mode_t mode_i,               // 1 statistics, 2 elements, 3 both
  input  logic [IndexBits-1:0]   count_i,              // n
  input  logic [IndexBits-1:0]   chunk_length_i,       // n/k
  input  logic [31:0]            reciprocal_count_i,   // fp32(1/n)
  input  logic [31:0]            reciprocal_chunks_i,  // fp32(1/k)
  input  logic [31:0]            constant_i,           // fp32(C)
  input  logic [31:0]            gamma_i,
  input  logic [31:0]            beta_i,
  input  logic [31:0]            mean_i,               // in mode 2
  input  logic [31:0]            inv_i,

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [1:0]             kind_o,               // mantissa_pkg::bn_kind_e
  output logic [31:0]            first_o,              // y, argmax or mean
  output logic [31:0]            second_o,             // +0, argmin or inv
  output logic                   last_o
);

  localparam logic [31:0] One     = 32'h3F80_0000;
  localparam logic [31:0] Nan     = 32'h7FC0_0000;
  localparam logic [31:0] Epsilon = 32'h3727_C5AC;  // fp32(1e-5)

  typedef enum logic [3:0] {
    StScan,       // pass 1, or the only pass of mode 2
    StFold,       // the last chunk's extremes go to their sums
    StHighs,      // highs * 1/k
    StLows,       // lows * 1/k
    StRange,      // highs - lows, beside it the mean
    StScale,      // * C
    StEpsilon,    // + eps
    StDivide,     // 1 / s, then the statistics go out
    StNormalise   // pass 2
  } state_e;

  state_e               state_d, state_q;
  logic [IndexBits-1:0] index_d, index_q;        // in the channel
  logic                 at_end, at_chunk_end;
  logic                 scanning, normalising;
  logic                 take;                    // this element goes into pass 1's registers

  logic [31:0]          sum_d, sum_q;
  logic                 nan_d, nan_q;            // a NaN in the channel
  logic                 fold_d, fold_q;          // the last chunk is not in the sums yet
  logic [31:0]          highs_d, highs_q;        // sum of maxima, then every step from it to s
  logic [31:0]          lows_d, lows_q;
  logic [31:0]          mean_d, mean_q;
  logic [31:0]          inv_d, inv_q;

  logic [31:0]          high, low;               // of the chunk, and where they stand
  logic [IndexBits-1:0] argmax, argmin;

  logic [1:0]           result_kind;             // on its way to the output
  logic [31:0]          result_first, result_second;
  logic                 result_last, result_valid, result_ready;

  // ------------------------------------------------------------------------------- arithmetic
  // One adder and one multiplier serve both passes and the steps between them. Results pass in
  // order: when the last chunk's indices have entered u_results no element is left in front of the
  // multiplier.
  logic [31:0] mean, inv;
  logic [31:0] add_a, add_b, add_z;
  logic [31:0] mul_a, mul_b, mul_z;
  logic [31:0] scale_a, scale_b;  // of an element in u_results
  logic [31:0] highs_sum, lows_sum;
  logic [31:0] quotient;
  logic        quotient_valid;
  logic        x_nan;

  assign mean  = mode_i.statistics ? mean_q : mean_i;
  assign inv   = mode_i.statistics ? inv_q : inv_i;
  assign x_nan = (x_i[30:0] > 31'h7F80_0000);

  always_comb begin
    add_a = x_i;
    add_b = {~mean[31], mean[30:0]};
    mul_a = scale_a;
    mul_b = scale_b;
    unique case (state_q)
      StScan: begin
        if (scanning) add_b = sum_q;
      end
      StHighs: begin
        mul_a = highs_q;
        mul_b = reciprocal_chunks_i;
      end
      StLows: begin
        mul_a = lows_q;
        mul_b = reciprocal_chunks_i;
      end
      StRange: begin
        add_a = highs_q;
        add_b = {~lows_q[31], lows_q[30:0]};
        mul_a = sum_q;
        mul_b = reciprocal_count_i;
      end
      StScale: begin
        mul_a = highs_q;
        mul_b = constant_i;
      end
      StEpsilon: begin
        add_a = highs_q;
        add_b = Epsilon;
      end
      default: ;
    endcase
  end

  fp32_add_comb u_add (
    .a_i(add_a),
    .b_i(add_b),
    .z_o(add_z)
  );

  fp32_mul_comb u_mul (
    .a_i(mul_a),
    .b_i(mul_b),
    .z_o(mul_z)
  );

  fp32_add_comb u_add_highs (
    .a_i(highs_q),
    .b_i(high),
    .z_o(highs_sum)
  );

  fp32_add_comb u_add_lows (
    .a_i(lows_q),
    .b_i(low),
    .z_o(lows_sum)
  );

  chunk_extremes #(
    .IndexBits(IndexBits)
  ) u_extremes (
    .clk_i,
    .rst_ni,
    .take_i        (take),
    .x_i,
    .index_i       (index_q),
    .chunk_length_i,
    .channel_end_i (at_end),
    .chunk_end_o   (at_chunk_end),
    .high_o        (high),
    .low_o         (low),
    .argmax_o      (argmax),
    .argmin_o      (argmin)
  );

  logic                 unused_div_ready;
  mantissa_pkg::flags_t unused_div_flags;

  fp32_div u_div (
    .clk_i,
    .rst_ni,
    .valid_i(state_q == StDivide),
    .ready_o(unused_div_ready),
    .a_i    (One),
    .b_i    (highs_q),
    .valid_o(quotient_valid),
    .ready_i(result_ready),
    .z_o    (quotient),
    .flags_o(unused_div_flags)
  );

  // --------------------------------------------------------------------------------- sequence
  assign at_end      = (index_q == count_i - 1'b1);
  assign scanning    = (state_q == StScan) & mode_i.statistics;
  assign normalising = (state_q == StNormalise) | ((state_q == StScan) & ~mode_i.statistics);
  // A chunk's first element takes the registers over from the chunk before.
  assign take        = scanning & valid_i & (~fold_q | result_ready);

  always_comb begin
    result_kind   = mantissa_pkg::BnElement;
    result_first  = add_z;
    result_second = inv;
    result_last   = at_end;
    result_valid  = normalising & valid_i;
    if (fold_q) begin
      result_kind   = mantissa_pkg::BnIndices;
      result_first  = 32'(argmax);
      result_second = 32'(argmin);
      result_last   = 1'b0;
      result_valid  = 1'b1;
    end else if (state_q == StDivide) begin
      result_kind   = mantissa_pkg::BnSaved;
      result_first  = mean_q;
      result_second = quotient;
      result_last   = ~mode_i.elements;
      result_valid  = quotient_valid;
    end
  end

  always_comb begin
    state_d = state_q;
    index_d = index_q;
    sum_d   = sum_q;
    nan_d   = nan_q;
    fold_d  = fold_q;
    highs_d = highs_q;
    lows_d  = lows_q;
    mean_d  = mean_q;
    inv_d   = inv_q;
    ready_o = 1'b0;

    if (fold_q & result_ready) begin
      fold_d  = 1'b0;
      highs_d = highs_sum;
      lows_d  = lows_sum;
    end

    if (take) begin
      sum_d  = add_z;
      nan_d  = nan_q | x_nan;
      fold_d = at_chunk_end;
    end

    unique case (state_q)
      StScan: begin
        ready_o = normalising ? result_ready : (~fold_q | result_ready) & ~at_end;
        if (take & at_end) state_d = StFold;
      end
      StFold: begin
        if (result_ready) state_d = StHighs;
      end
      StHighs: begin
        highs_d = mul_z;
        state_d = StLows;
      end
      StLows: begin
        lows_d  = mul_z;
        state_d = StRange;
      end
      StRange: begin
        highs_d = nan_q ? Nan : add_z;
        mean_d  = mul_z;
        state_d = StScale;
      end
      StScale: begin
        highs_d = mul_z;
        state_d = StEpsilon;
      end
      StEpsilon: begin
        highs_d = add_z;
        state_d = StDivide;
      end
      StDivide: begin
        ready_o = quotient_valid & result_ready;
        if (ready_o) begin
          inv_d   = quotient;
          sum_d   = '0;
          nan_d   = 1'b0;
          highs_d = '0;
          lows_d  = '0;
          state_d = mode_i.elements ? StNormalise : StScan;
        end
      end
      StNormalise: begin
        ready_o = result_ready;
        if (valid_i & result_ready & at_end) state_d = StScan;
      end
      default: state_d = StScan;
    endcase

    if (take | (normalising & valid_i & result_ready)) index_d = at_end ? '0 : index_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StScan;
      index_q <= '0;
      sum_q   <= '0;
      nan_q   <= 1'b0;
      fold_q  <= 1'b0;
      highs_q <= '0;
      lows_q  <= '0;
      mean_q  <= '0;
      inv_q   <= '0;
    end else begin
      state_q <= state_d;
      index_q <= index_d;
      sum_q   <= sum_d;
      nan_q   <= nan_d;
      fold_q  <= fold_d;
      highs_q <= highs_d;
      lows_q  <= lows_d;
      mean_q  <= mean_d;
      inv_q   <= inv_d;
    end
  end

  // ---------------------------------------------------------------------------------- results
  range_bn_results u_results (
    .clk_i,
    .rst_ni,
    .valid_i  (result_valid),
    .ready_o  (result_ready),
    .kind_i   (result_kind),
    .first_i  (result_first),
    .second_i (result_second),
    .gamma_i,
    .beta_i,
    .last_i   (result_last),
    .scale_a_o(scale_a),
    .scale_b_o(scale_b),
    .scaled_i (mul_z),
    .valid_o,
    .ready_i,
    .kind_o,
    .first_o,
    .second_o,
    .last_o
  );

endmodule
