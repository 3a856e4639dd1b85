// SPDX-License-Identifier: Apache-2.0
//
// Range batch normalisation of one channel, backward (ARITHMETIC.md 8): FP32, every operation
// rounded on its own. The channel's x and g are streamed twice and nothing of them is stored; one
// element per cycle in each pass, 8 cycles between them, latency of dx 5.
//
// Pass 1 ends with one result dgamma, dbeta (gradients_o), pass 2 gives dx, the last one with
// last_o.
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

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic                 gradients_o,
  output logic [31:0]          first_o,              // dx or dgamma
  output logic [31:0]          second_o,             // +0 or dbeta
  output logic                 last_o
);

  typedef enum logic [2:0] {
    StScan,    // pass 1
    StDrain,   // the last element is on its way to the sums
    StMeans,   // mh = sh * 1/n, beside it ds = -shx * inv
    StScale,   // C * ds
    StChunks,  // * 1/k
    StSave,
    StApply    // pass 2
  } state_e;

  // What happens to an element behind the pipeline.
  typedef struct packed {
    logic scan;   // pass 1: into the sums
    logic plus;   // pass 2: + t
    logic minus;  // pass 2: - t
    logic last;
  } task_t;
  localparam int unsigned TaskW = 4;

  // The pipeline has one operation per stage. What both passes compute has the same place in both.
  typedef struct packed {
    task_t       todo;
    logic [31:0] x;
    logic [31:0] g;
    logic [31:0] h;  // gamma * g
    logic [31:0] mean;
    logic [31:0] inv;
  } weighted_t;
  localparam int unsigned WeightedW = TaskW + 5 * 32;

  typedef struct packed {
    task_t       todo;
    logic [31:0] g;
    logic [31:0] h;
    logic [31:0] centred;  // x - mean, or h - mh
    logic [31:0] inv;
  } centred_t;
  localparam int unsigned CentredW = TaskW + 4 * 32;

  typedef struct packed {
    task_t       todo;
    logic [31:0] g;
    logic [31:0] h;
    logic [31:0] scaled;  // centred * inv: xhat, or dx without t
  } scaled_t;
  localparam int unsigned ScaledW = TaskW + 3 * 32;

  typedef struct packed {
    task_t       todo;
    logic [31:0] g;
    logic [31:0] h;
    logic [31:0] g_xhat;  // pass 2: dx without t
    logic [31:0] h_xhat;
  } product_t;
  localparam int unsigned ProductW = TaskW + 4 * 32;

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
  logic                 enter;

  logic [31:0]          g_sum_d, g_sum_q;
  logic [31:0]          h_sum_d, h_sum_q;
  logic [31:0]          g_xhat_sum_d, g_xhat_sum_q;
  logic [31:0]          h_xhat_sum_d, h_xhat_sum_q;
  logic [31:0]          mean_h_d, mean_h_q;
  logic [31:0]          shift_d, shift_q;  // t, and every step to it

  weighted_t            weighted_d, weighted;
  logic                 weighted_d_ready, weighted_valid, weighted_ready;
  centred_t             centred_d, centred;
  logic                 centred_valid, centred_ready;
  scaled_t              scaled_d, scaled;
  logic                 scaled_valid, scaled_ready;
  product_t             product_d, product;
  logic                 product_valid, product_ready;
  result_t              result_d, result;
  logic                 result_d_valid, result_d_ready;

  // ------------------------------------------------------------------------------- arithmetic
  // Between the passes the pipeline is empty, and its first and third operation make mh and t.
  logic [31:0] weigh_a, weigh_b, weigh_z;
  logic [31:0] centre_a, centre_b, centre_z;
  logic [31:0] scale_a, scale_b, scale_z;
  logic [31:0] g_xhat, h_xhat;
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
    centre_a = weighted.h;
    centre_b = {~mean_h_q[31], mean_h_q[30:0]};
    if (weighted.todo.scan) begin
      centre_a = weighted.x;
      centre_b = {~weighted.mean[31], weighted.mean[30:0]};
    end
  end

  always_comb begin
    scale_a = centred.centred;
    scale_b = centred.inv;
    if (state_q == StMeans) begin
      scale_a = {~h_xhat_sum_q[31], h_xhat_sum_q[30:0]};
      scale_b = inv_i;
    end
  end

  // The adder of sum(g) also adds t.
  always_comb begin
    sum_a = product.g_xhat;
    sum_b = {shift_q[31] ^ product.todo.minus, shift_q[30:0]};
    if (product.todo.scan) begin
      sum_a = g_sum_q;
      sum_b = product.g;
    end
  end

  fp32_mul_comb u_weigh (
    .a_i(weigh_a),
    .b_i(weigh_b),
    .z_o(weigh_z)
  );

  fp32_add_comb u_centre (
    .a_i(centre_a),
    .b_i(centre_b),
    .z_o(centre_z)
  );

  fp32_mul_comb u_scale (
    .a_i(scale_a),
    .b_i(scale_b),
    .z_o(scale_z)
  );

  fp32_mul_comb u_g_xhat (
    .a_i(scaled.g),
    .b_i(scaled.scaled),
    .z_o(g_xhat)
  );

  fp32_mul_comb u_h_xhat (
    .a_i(scaled.h),
    .b_i(scaled.scaled),
    .z_o(h_xhat)
  );

  fp32_add_comb u_sum (
    .a_i(sum_a),
    .b_i(sum_b),
    .z_o(sum_z)
  );

  logic [31:0] h_sum_z, g_xhat_sum_z, h_xhat_sum_z;

  fp32_add_comb u_h_sum (
    .a_i(h_sum_q),
    .b_i(product.h),
    .z_o(h_sum_z)
  );

  fp32_add_comb u_g_xhat_sum (
    .a_i(g_xhat_sum_q),
    .b_i(product.g_xhat),
    .z_o(g_xhat_sum_z)
  );

  fp32_add_comb u_h_xhat_sum (
    .a_i(h_xhat_sum_q),
    .b_i(product.h_xhat),
    .z_o(h_xhat_sum_z)
  );

  // --------------------------------------------------------------------------------- sequence
  assign at_end = (index_q == count_i - 1'b1);
  assign enter  = valid_i & ((state_q == StScan) | (state_q == StApply));

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

    if (product_valid & product.todo.scan) begin
      g_sum_d      = sum_z;
      h_sum_d      = h_sum_z;
      g_xhat_sum_d = g_xhat_sum_z;
      h_xhat_sum_d = h_xhat_sum_z;
    end

    unique case (state_q)
      StScan: begin
        ready_o = weighted_d_ready & ~at_end;
        if (valid_i & weighted_d_ready & at_end) state_d = StDrain;
      end
      StDrain: begin
        if (product_valid & product.todo.scan & product.todo.last) state_d = StMeans;
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
      default: begin
        ready_o = weighted_d_ready;
        if (valid_i & weighted_d_ready & at_end) state_d = StScan;
      end
    endcase

    if (enter & weighted_d_ready) index_d = at_end ? '0 : index_q + 1'b1;
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

  // --------------------------------------------------------------------------------- pipeline
  logic apart;  // nothing is added where argmax and argmin coincide

  assign apart = (argmax_i != argmin_i);

  always_comb begin
    weighted_d.todo.scan  = (state_q == StScan);
    weighted_d.todo.plus  = apart & (index_q == argmax_i);
    weighted_d.todo.minus = apart & (index_q == argmin_i);
    weighted_d.todo.last  = at_end;
    weighted_d.x          = x_i;
    weighted_d.g          = g_i;
    weighted_d.h          = weigh_z;
    weighted_d.mean       = mean_i;
    weighted_d.inv        = inv_i;
  end

  pipe_reg #(
    .Width(WeightedW)
  ) u_weighted_reg (
    .clk_i,
    .rst_ni,
    .valid_i(enter),
    .ready_o(weighted_d_ready),
    .data_i (weighted_d),
    .valid_o(weighted_valid),
    .ready_i(weighted_ready),
    .data_o (weighted)
  );

  always_comb begin
    centred_d.todo    = weighted.todo;
    centred_d.g       = weighted.g;
    centred_d.h       = weighted.h;
    centred_d.centred = centre_z;
    centred_d.inv     = weighted.inv;
  end

  pipe_reg #(
    .Width(CentredW)
  ) u_centred_reg (
    .clk_i,
    .rst_ni,
    .valid_i(weighted_valid),
    .ready_o(weighted_ready),
    .data_i (centred_d),
    .valid_o(centred_valid),
    .ready_i(centred_ready),
    .data_o (centred)
  );

  always_comb begin
    scaled_d.todo   = centred.todo;
    scaled_d.g      = centred.g;
    scaled_d.h      = centred.h;
    scaled_d.scaled = scale_z;
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
    product_d.todo   = scaled.todo;
    product_d.g      = scaled.g;
    product_d.h      = scaled.h;
    product_d.g_xhat = scaled.todo.scan ? g_xhat : scaled.scaled;
    product_d.h_xhat = h_xhat;
  end

  pipe_reg #(
    .Width(ProductW)
  ) u_product_reg (
    .clk_i,
    .rst_ni,
    .valid_i(scaled_valid),
    .ready_o(scaled_ready),
    .data_i (product_d),
    .valid_o(product_valid),
    .ready_i(product_ready),
    .data_o (product)
  );

  // The sums take an element of pass 1 at once, whatever the output does.
  assign product_ready = product.todo.scan | result_d_ready;

  always_comb begin
    result_d.gradients = 1'b0;
    result_d.first     = (product.todo.plus | product.todo.minus) ? sum_z : product.g_xhat;
    result_d.second    = '0;
    result_d.last      = product.todo.last;
    result_d_valid     = product_valid & ~product.todo.scan;
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
