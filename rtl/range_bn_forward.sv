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
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          x_i,
  input  logic [1:0]           mode_i,               // bit 0: statistics, bit 1: elements
  input  logic [IndexBits-1:0] count_i,              // n
  input  logic [IndexBits-1:0] chunk_length_i,       // n/k
  input  logic [31:0]          reciprocal_count_i,   // fp32(1/n)
  input  logic [31:0]          reciprocal_chunks_i,  // fp32(1/k)
  input  logic [31:0]          constant_i,           // fp32(C)
  input  logic [31:0]          gamma_i,
  input  logic [31:0]          beta_i,
  input  logic [31:0]          mean_i,               // in mode 2
  input  logic [31:0]          inv_i,

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [1:0]           kind_o,               // mantissa_pkg::bn_kind_e
  output logic [31:0]          first_o,              // y, argmax or mean
  output logic [31:0]          second_o,             // +0, argmin or inv
  output logic                 last_o
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

  typedef struct packed {
    logic [1:0]  kind;
    logic [31:0] first;
    logic [31:0] second;  // of an element: inv
    logic [31:0] gamma;
    logic [31:0] beta;
    logic        last;
  } centred_t;
  localparam int unsigned CentredW = 2 + 4 * 32 + 1;

  typedef struct packed {
    logic [1:0]  kind;
    logic [31:0] first;
    logic [31:0] second;  // of an element: gamma
    logic [31:0] beta;
    logic        last;
  } scaled_t;
  localparam int unsigned ScaledW = 2 + 3 * 32 + 1;

  typedef struct packed {
    logic [1:0]  kind;
    logic [31:0] first;
    logic [31:0] second;
    logic        last;
  } result_t;
  localparam int unsigned ResultW = 2 + 2 * 32 + 1;

  state_e               state_d, state_q;
  logic [IndexBits-1:0] index_d, index_q;        // in the channel
  logic [IndexBits-1:0] position_d, position_q;  // in the chunk
  logic                 at_end, at_chunk_end;
  logic                 scanning, normalising;
  logic                 take;                    // this element goes into pass 1's registers

  logic [31:0]          sum_d, sum_q;
  logic                 nan_d, nan_q;            // a NaN in the channel
  logic [31:0]          high_d, high_q;          // of the chunk
  logic [31:0]          low_d, low_q;
  logic [IndexBits-1:0] argmax_d, argmax_q;
  logic [IndexBits-1:0] argmin_d, argmin_q;
  logic                 fold_d, fold_q;          // the last chunk is not in the sums yet
  logic [31:0]          highs_d, highs_q;        // sum of maxima, then every step from it to s
  logic [31:0]          lows_d, lows_q;
  logic [31:0]          mean_d, mean_q;
  logic [31:0]          inv_d, inv_q;

  centred_t             centred_d, centred;
  logic                 centred_d_valid, centred_d_ready, centred_valid, centred_ready;
  scaled_t              scaled_d, scaled;
  logic                 scaled_valid, scaled_ready;
  result_t              result_d, result;

  // ------------------------------------------------------------------------------- arithmetic
  // One adder and one multiplier serve both passes and the steps between them. Results pass in
  // order: when the last chunk's indices have entered the pipeline no element is left in front of
  // the multiplier.
  logic [31:0] mean, inv;
  logic [31:0] add_a, add_b, add_z;
  logic [31:0] mul_a, mul_b, mul_z;
  logic [31:0] highs_sum, lows_sum;
  logic [31:0] y;
  logic [31:0] quotient;
  logic        quotient_valid;
  logic        above, below;
  logic        x_nan;

  assign mean  = mode_i[0] ? mean_q : mean_i;
  assign inv   = mode_i[0] ? inv_q : inv_i;
  assign x_nan = (x_i[30:0] > 31'h7F80_0000);

  always_comb begin
    add_a = x_i;
    add_b = {~mean[31], mean[30:0]};
    mul_a = centred.first;
    mul_b = centred.second;
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
    .b_i(high_q),
    .z_o(highs_sum)
  );

  fp32_add_comb u_add_lows (
    .a_i(lows_q),
    .b_i(low_q),
    .z_o(lows_sum)
  );

  fp_less u_above (
    .a_i   (high_q),
    .b_i   (x_i),
    .less_o(above)
  );

  fp_less u_below (
    .a_i   (x_i),
    .b_i   (low_q),
    .less_o(below)
  );

  fp32_fma_comb u_fma (
    .a_i(scaled.first),
    .b_i(scaled.second),
    .c_i(scaled.beta),
    .z_o(y)
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
    .ready_i(centred_d_ready),
    .z_o    (quotient),
    .flags_o(unused_div_flags)
  );

  // --------------------------------------------------------------------------------- sequence
  assign at_end       = (index_q == count_i - 1'b1);
  assign at_chunk_end = (position_q == chunk_length_i - 1'b1);
  assign scanning     = (state_q == StScan) & mode_i[0];
  assign normalising  = (state_q == StNormalise) | ((state_q == StScan) & ~mode_i[0]);
  // A chunk's first element takes the registers over from the chunk before.
  assign take         = scanning & valid_i & (~fold_q | centred_d_ready);

  always_comb begin
    centred_d.kind   = mantissa_pkg::BnElement;
    centred_d.first  = add_z;
    centred_d.second = inv;
    centred_d.gamma  = gamma_i;
    centred_d.beta   = beta_i;
    centred_d.last   = at_end;
    centred_d_valid  = normalising & valid_i;
    if (fold_q) begin
      centred_d.kind   = mantissa_pkg::BnIndices;
      centred_d.first  = 32'(argmax_q);
      centred_d.second = 32'(argmin_q);
      centred_d.last   = 1'b0;
      centred_d_valid  = 1'b1;
    end else if (state_q == StDivide) begin
      centred_d.kind   = mantissa_pkg::BnSaved;
      centred_d.first  = mean_q;
      centred_d.second = quotient;
      centred_d.last   = ~mode_i[1];
      centred_d_valid  = quotient_valid;
    end
  end

  always_comb begin
    state_d    = state_q;
    index_d    = index_q;
    position_d = position_q;
    sum_d      = sum_q;
    nan_d      = nan_q;
    high_d     = high_q;
    low_d      = low_q;
    argmax_d   = argmax_q;
    argmin_d   = argmin_q;
    fold_d     = fold_q;
    highs_d    = highs_q;
    lows_d     = lows_q;
    mean_d     = mean_q;
    inv_d      = inv_q;
    ready_o    = 1'b0;

    if (fold_q & centred_d_ready) begin
      fold_d  = 1'b0;
      highs_d = highs_sum;
      lows_d  = lows_sum;
    end

    if (take) begin
      sum_d      = add_z;
      nan_d      = nan_q | x_nan;
      fold_d     = at_chunk_end;
      position_d = (at_chunk_end | at_end) ? '0 : position_q + 1'b1;
      if (above | (position_q == '0)) begin
        high_d   = x_i;
        argmax_d = index_q;
      end
      if (below | (position_q == '0)) begin
        low_d    = x_i;
        argmin_d = index_q;
      end
    end

    unique case (state_q)
      StScan: begin
        ready_o = normalising ? centred_d_ready : (~fold_q | centred_d_ready) & ~at_end;
        if (take & at_end) state_d = StFold;
      end
      StFold: begin
        if (centred_d_ready) state_d = StHighs;
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
        ready_o = quotient_valid & centred_d_ready;
        if (ready_o) begin
          inv_d   = quotient;
          sum_d   = '0;
          nan_d   = 1'b0;
          highs_d = '0;
          lows_d  = '0;
          state_d = mode_i[1] ? StNormalise : StScan;
        end
      end
      default: begin
        ready_o = centred_d_ready;
        if (valid_i & centred_d_ready & at_end) state_d = StScan;
      end
    endcase

    if (take | (normalising & valid_i & centred_d_ready)) index_d = at_end ? '0 : index_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StScan;
      index_q    <= '0;
      position_q <= '0;
      sum_q      <= '0;
      nan_q      <= 1'b0;
      high_q     <= '0;
      low_q      <= '0;
      argmax_q   <= '0;
      argmin_q   <= '0;
      fold_q     <= 1'b0;
      highs_q    <= '0;
      lows_q     <= '0;
      mean_q     <= '0;
      inv_q      <= '0;
    end else begin
      state_q    <= state_d;
      index_q    <= index_d;
      position_q <= position_d;
      sum_q      <= sum_d;
      nan_q      <= nan_d;
      high_q     <= high_d;
      low_q      <= low_d;
      argmax_q   <= argmax_d;
      argmin_q   <= argmin_d;
      fold_q     <= fold_d;
      highs_q    <= highs_d;
      lows_q     <= lows_d;
      mean_q     <= mean_d;
      inv_q      <= inv_d;
    end
  end

  // ------------------------------------------------ results: x - mean, * inv, * gamma + beta
  logic centred_element, scaled_element;

  assign centred_element = (centred.kind == mantissa_pkg::BnElement);
  assign scaled_element  = (scaled.kind == mantissa_pkg::BnElement);

  pipe_reg #(
    .Width(CentredW)
  ) u_centred_reg (
    .clk_i,
    .rst_ni,
    .valid_i(centred_d_valid),
    .ready_o(centred_d_ready),
    .data_i (centred_d),
    .valid_o(centred_valid),
    .ready_i(centred_ready),
    .data_o (centred)
  );

  always_comb begin
    scaled_d.kind   = centred.kind;
    scaled_d.first  = centred_element ? mul_z : centred.first;
    scaled_d.second = centred_element ? centred.gamma : centred.second;
    scaled_d.beta   = centred.beta;
    scaled_d.last   = centred.last;
  end

  pipe_reg #(
    .Width(ScaledW)
  ) u_scaled_reg (
    .clk_i,
    .rst_ni,
    .valid_i(centred_valid),
    .ready_o(centred_ready),
    .data_i (scaled_d),
    .valid_o(scaled_valid),
    .ready_i(scaled_ready),
    .data_o (scaled)
  );

  always_comb begin
    result_d.kind   = scaled.kind;
    result_d.first  = scaled_element ? y : scaled.first;
    result_d.second = scaled_element ? '0 : scaled.second;
    result_d.last   = scaled.last;
  end

  pipe_reg #(
    .Width(ResultW)
  ) u_result_reg (
    .clk_i,
    .rst_ni,
    .valid_i(scaled_valid),
    .ready_o(scaled_ready),
    .data_i (result_d),
    .valid_o,
    .ready_i,
    .data_o (result)
  );

  assign kind_o   = result.kind;
  assign first_o  = result.first;
  assign second_o = result.second;
  assign last_o   = result.last;

endmodule
