// SPDX-License-Identifier: Apache-2.0
//
// Range batch normalisation of one channel, backward (ARITHMETIC.md 8): FP32, every operation
// rounded on its own. The channel's x and g are streamed twice and nothing of them is stored; one
// element per cycle in each pass, 8 cycles between them, latency of dx 5.
//
// Pass 1 ends with one result dgamma, dbeta (gradients_o), pass 2 gives dx, the last one with
// last_o. With given_i a channel is its pass 2 alone, with mh and t that others have found; one
// channel follows the other without a pause.
//
// Everything next to x_i and g_i belongs to the channel and is the same with each of its elements,
// but argmax_i and argmin_i belong to the element's chunk and count in pass 2 only: so any number
// of chunks needs no memory here. The last element of pass 1 stays at the input until the sums are
// done, so that the registers need no copy either.

module range_bn_backward #(
  parameter int unsigned IndexBits = 20  // n < 2^IndexBits
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          x_i,
  input  logic [31:0]          g_i,
  input  logic [IndexBits-1:0] argmax_i,
  input  logic [IndexBits-1:0] argmin_i,
  input  logic [IndexBits-1:0] count_i,              // n
  input  logic [31:0]          reciprocal_count_i,   // fp32(1/n)
  input  logic [31:0]          reciprocal_chunks_i,  // fp32(1/k)
  input  logic [31:0]          constant_i,           // fp32(C)
  input  logic [31:0]          gamma_i,
  input  logic [31:0]          mean_i,
  input  logic [31:0]          inv_i,
  input  logic                 given_i,              // pass 2 alone
  input  logic [31:0]          mean_h_i,             // mh, with given_i
  input  logic [31:0]          shift_i,              // t, with given_i

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic                 gradients_o,
  output logic [31:0]          first_o,              // dx or dgamma
  output logic [31:0]          second_o,             // +0 or dbeta
  output logic                 last_o
);

  typedef enum logic [2:0] {
    StScan,    // pass 1, or pass 2 with given_i
    StDrain,   // the last element is on its way to the sums
    StMeans,   // mh = sh * 1/n, beside it ds = -shx * inv
    StScale,   // C * ds
    StChunks,  // * 1/k
    StSave,
    StApply    // pass 2
  } state_e;

  // What becomes of an element of pass 2, and where a pass ends.
  typedef struct packed {
    logic plus;   // + t
    logic minus;  // - t
    logic last;
  } tag_t;
  localparam int unsigned TagW = 3;

  typedef struct packed {
    logic        gradients;
    logic [31:0] first;
    logic [31:0] second;
    logic        last;
  } result_t;
  localparam int unsigned ResultW = 1 + 2 * 32 + 1;

  state_e               state_d, state_q;
  logic [IndexBits-1:0] index_d, index_q;
  logic                 at_end;
  logic                 scanning, enter;

  logic [31:0]          g_sum_d, g_sum_q;
  logic [31:0]          h_sum_d, h_sum_q;
  logic [31:0]          g_xhat_sum_d, g_xhat_sum_q;
  logic [31:0]          h_xhat_sum_d, h_xhat_sum_q;
  logic [31:0]          mean_h_d, mean_h_q;
  logic [31:0]          shift_d, shift_q;  // t, and every step to it

  tag_t                 tag;               // of the element that enters u_products
  logic                 enter_ready;
  logic [31:0]          scale_element_a, scale_element_b;
  logic                 product_scan;      // of the element that leaves it
  tag_t                 product_tag;
  logic [31:0]          product_g, product_h, product_g_xhat, product_h_xhat;
  logic                 product_valid, product_ready;
  result_t              result_d, result;
  logic                 result_d_valid, result_d_ready;

  // ------------------------------------------------------------------------------- arithmetic
  // Between the passes u_products is empty, and the multipliers in front of it and of its third
  // stage make mh and t.
  logic [31:0] weigh_a, weigh_b, weigh_z;
  logic [31:0] scale_a, scale_b, scale_z;
  logic [31:0] sum_a, sum_b, sum_z;

  always_comb begin
    weigh_a = gamma_i;
    weigh_b = g_i;
    unique case (state_q)
      StMeans: begin
        weigh_a = reciprocal_count_i;
        weigh_b = h_sum_q;
      end
      StScale: begin
        weigh_a = constant_i;
        weigh_b = shift_q;
      end
      StChunks: begin
        weigh_a = reciprocal_chunks_i;
        weigh_b = shift_q;
      end
      default: ;
    endcase
  end

  always_comb begin
    scale_a = scale_element_a;
    scale_b = scale_element_b;
    if (state_q == StMeans) begin
      scale_a = {~h_xhat_sum_q[31], h_xhat_sum_q[30:0]};
      scale_b = inv_i;
    end
  end

  // The adder of sum(g) also adds t.
  always_comb begin
    sum_a = product_g_xhat;
    sum_b = {product_g[31] ^ product_tag.minus, product_g[30:0]};
    if (product_scan) begin
      sum_a = g_sum_q;
      sum_b = product_g;
    end
  end

  fp32_mul_comb u_weigh (
    .a_i(weigh_a),
    .b_i(weigh_b),
    .z_o(weigh_z)
  );

  fp32_mul_comb u_scale (
    .a_i(scale_a),
    .b_i(scale_b),
    .z_o(scale_z)
  );

  fp32_add_comb u_sum (
    .a_i(sum_a),
    .b_i(sum_b),
    .z_o(sum_z)
  );

  logic [31:0] h_sum_z, g_xhat_sum_z, h_xhat_sum_z;

  fp32_add_comb u_h_sum (
    .a_i(h_sum_q),
    .b_i(product_h),
    .z_o(h_sum_z)
  );

  fp32_add_comb u_g_xhat_sum (
    .a_i(g_xhat_sum_q),
    .b_i(product_g_xhat),
    .z_o(g_xhat_sum_z)
  );

  fp32_add_comb u_h_xhat_sum (
    .a_i(h_xhat_sum_q),
    .b_i(product_h_xhat),
    .z_o(h_xhat_sum_z)
  );

  // --------------------------------------------------------------------------------- sequence
  assign at_end   = (index_q == count_i - 1'b1);
  assign scanning = (state_q == StScan) & ~given_i;
  assign enter    = valid_i & ((state_q == StScan) | (state_q == StApply));

  always_comb begin
    state_d      = state_q;
    index_d      = index_q;
    g_sum_d      = g_sum_q;
    h_sum_d      = h_sum_q;
    g_xhat_sum_d = g_xhat_sum_q;
    h_xhat_sum_d = h_xhat_sum_q;
    mean_h_d     = mean_h_q;
    shift_d      = shift_q;
    ready_o      = 1'b0;

    if (product_valid & product_scan) begin
      g_sum_d      = sum_z;
      h_sum_d      = h_sum_z;
      g_xhat_sum_d = g_xhat_sum_z;
      h_xhat_sum_d = h_xhat_sum_z;
    end

    unique case (state_q)
      StScan: begin
        ready_o = enter_ready & (given_i | ~at_end);
        if (scanning & valid_i & enter_ready & at_end) state_d = StDrain;
      end
      StDrain: begin
        if (product_valid & product_scan & product_tag.last) state_d = StMeans;
      end
      StMeans: begin
        mean_h_d = weigh_z;
        shift_d  = scale_z;
        state_d  = StScale;
      end
      StScale: begin
        shift_d = weigh_z;
        state_d = StChunks;
      end
      StChunks: begin
        shift_d = weigh_z;
        state_d = StSave;
      end
      StSave: begin
        ready_o = result_d_ready;
        if (result_d_ready) begin
          g_sum_d      = '0;
          h_sum_d      = '0;
          g_xhat_sum_d = '0;
          h_xhat_sum_d = '0;
          state_d      = StApply;
        end
      end
      StApply: begin
        ready_o = enter_ready;
        if (valid_i & enter_ready & at_end) state_d = StScan;
      end
      default: state_d = StScan;
    endcase

    if (enter & enter_ready) index_d = at_end ? '0 : index_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StScan;
      index_q      <= '0;
      g_sum_q      <= '0;
      h_sum_q      <= '0;
      g_xhat_sum_q <= '0;
      h_xhat_sum_q <= '0;
      mean_h_q     <= '0;
      shift_q      <= '0;
    end else begin
      state_q      <= state_d;
      index_q      <= index_d;
      g_sum_q      <= g_sum_d;
      h_sum_q      <= h_sum_d;
      g_xhat_sum_q <= g_xhat_sum_d;
      h_xhat_sum_q <= h_xhat_sum_d;
      mean_h_q     <= mean_h_d;
      shift_q      <= shift_d;
    end
  end

  // --------------------------------------------------------------------------------- elements
  logic        apart;  // nothing is added where argmax and argmin coincide
  logic [31:0] mean_h, shift;

  assign apart  = (argmax_i != argmin_i);
  assign mean_h = given_i ? mean_h_i : mean_h_q;
  assign shift  = given_i ? shift_i : shift_q;

  always_comb begin
    tag.plus  = apart & (index_q == argmax_i);
    tag.minus = apart & (index_q == argmin_i);
    tag.last  = at_end;
  end

  range_bn_products #(
    .TagW(TagW)
  ) u_products (
    .clk_i,
    .rst_ni,
    .valid_i  (enter),
    .ready_o  (enter_ready),
    .scan_i   (scanning),
    .tag_i    (tag),
    .x_i,
    .g_i      (scanning ? g_i : shift),
    .h_i      (weigh_z),
    .mean_i   (scanning ? mean_i : mean_h),
    .inv_i,
    .scale_a_o(scale_element_a),
    .scale_b_o(scale_element_b),
    .scaled_i (scale_z),
    .valid_o  (product_valid),
    .ready_i  (product_ready),
    .scan_o   (product_scan),
    .tag_o    (product_tag),
    .g_o      (product_g),
    .h_o      (product_h),
    .g_xhat_o (product_g_xhat),
    .h_xhat_o (product_h_xhat)
  );

  // The sums take an element of pass 1 at once, whatever the output does.
  assign product_ready = product_scan | result_d_ready;

  always_comb begin
    result_d.gradients = 1'b0;
    result_d.first     = (product_tag.plus | product_tag.minus) ? sum_z : product_g_xhat;
    result_d.second    = '0;
    result_d.last      = product_tag.last;
    result_d_valid     = product_valid & ~product_scan;
    if (state_q == StSave) begin
      result_d.gradients = 1'b1;
      result_d.first     = g_xhat_sum_q;
      result_d.second    = g_sum_q;
      result_d.last      = 1'b0;
      result_d_valid     = 1'b1;
    end
  end

  pipe_reg #(
    .Width(ResultW)
  ) u_result_reg (
    .clk_i,
    .rst_ni,
    .valid_i(result_d_valid),
    .ready_o(result_d_ready),
    .data_i (result_d),
    .valid_o,
    .ready_i,
    .data_o (result)
  );

  assign gradients_o = result.gradients;
  assign first_o     = result.first;
  assign second_o    = result.second;
  assign last_o      = result.last;

endmodule
