// SPDX-License-Identifier: Apache-2.0
//
// What a batch norm collects of its channels where they pass, as behind a drain lane (ARITHMETIC.md
// 8, "Fused"): sweep 1 of range_bn_forward or pass 1 of range_bn_backward, with its order and its
// bits. Channels take turns, element by element as they come: what is collected of each stands in a
// place of its own, column_i. FP32, every operation rounded on its own; one element per cycle,
// latency of a result 5.
//
// With Parts, sums may be cut into parts (ARITHMETIC.md 8, "Parts"): those of a part that ends are
// added to those of the parts before it. Results then come a cycle later.
//
// An element that ends a chunk (forward) or a channel gives a result, others give none.

module norm_statistics #(
  parameter  int unsigned Columns   = 16,  // channels that take turns
  parameter  int unsigned IndexBits = 20,
  parameter  int unsigned Parts     = 0,   // 1: sums in parts
  localparam int unsigned ColumnW   = (Columns > 1) ? $clog2(Columns) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic                 backward_i,
  input  logic [ColumnW-1:0]   column_i,
  input  logic                 first_i,        // of its channel
  input  logic                 last_i,
  input  logic                 chunk_first_i,  // of its chunk; forward
  input  logic                 chunk_last_i,
  input  logic                 part_last_i,    // of its part; with Parts
  input  logic [IndexBits-1:0] index_i,        // in the channel; forward
  input  logic [31:0]          x_i,
  input  logic [31:0]          g_i,            // backward, and what is below
  input  logic [31:0]          gamma_i,
  input  logic [31:0]          mean_i,
  input  logic [31:0]          inv_i,

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [ColumnW-1:0]   column_o,
  output logic                 chunk_o,        // argmax_o and argmin_o are those of a chunk
  output logic [IndexBits-1:0] argmax_o,
  output logic [IndexBits-1:0] argmin_o,
  output logic                 last_o,         // the sums are those of a channel
  output logic [4*32-1:0]      sums_o,         // lowest first; forward: x, maxima, minima; backward: g, h, g*xhat, h*xhat
  output logic                 nan_o           // a NaN in the channel; forward
);

  if (Columns < 1 || Columns > 4096) begin : gen_bad_columns
    $error("norm_statistics: Columns must be 1 to 4096");
  end

  typedef struct packed {
    logic                 backward;
    logic [ColumnW-1:0]   column;
    logic                 first;
    logic                 last;
    logic                 chunk_first;
    logic                 chunk_last;
    logic                 part_last;
    logic [IndexBits-1:0] index;
  } tag_t;
  localparam int unsigned TagW = 6 + ColumnW + IndexBits;

  // What is collected of a channel. The sums are those of the present part, the extremes those of
  // the present chunk.
  typedef struct packed {
    logic                 cut;  // a part has ended
    logic [4*32-1:0]      sums;
    logic                 nan;
    logic [31:0]          high;
    logic [31:0]          low;
    logic [IndexBits-1:0] argmax;
    logic [IndexBits-1:0] argmin;
  } channel_t;
  localparam int unsigned ChannelW = 6 * 32 + 2 + 2 * IndexBits;

  typedef struct packed {
    logic [ColumnW-1:0]   column;
    logic                 chunk;
    logic [IndexBits-1:0] argmax;
    logic [IndexBits-1:0] argmin;
    logic                 last;
    logic [4*32-1:0]      sums;
    logic                 nan;
  } result_t;
  localparam int unsigned ResultW = ColumnW + 3 + 2 * IndexBits + 4 * 32;

  // ---------------------------------------------------------------------------------- products
  // In the forward pass an element takes the way of g, which is not changed there.
  tag_t        tag_in, tag;
  logic [31:0] element, weighed;
  logic [31:0] scale_a, scale_b, scaled;
  logic [31:0] value;  // g, or x in the forward pass
  logic [31:0] h, g_xhat, h_xhat;
  logic        product_valid, product_ready;
  logic        unused_scan;

  always_comb begin
    tag_in.backward    = backward_i;
    tag_in.column      = column_i;
    tag_in.first       = first_i;
    tag_in.last        = last_i;
    tag_in.chunk_first = chunk_first_i;
    tag_in.chunk_last  = chunk_last_i;
    tag_in.part_last   = (Parts != 0) & part_last_i;
    tag_in.index       = index_i;
  end

  assign element = backward_i ? g_i : x_i;

  fp32_mul_comb u_weigh (
    .a_i(gamma_i),
    .b_i(g_i),
    .z_o(weighed)
  );

  fp32_mul_comb u_scale (
    .a_i(scale_a),
    .b_i(scale_b),
    .z_o(scaled)
  );

  range_bn_products #(
    .TagW(TagW)
  ) u_products (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .scan_i   (1'b1),
    .tag_i    (tag_in),
    .x_i,
    .g_i      (element),
    .h_i      (weighed),
    .mean_i,
    .inv_i,
    .scale_a_o(scale_a),
    .scale_b_o(scale_b),
    .scaled_i (scaled),
    .valid_o  (product_valid),
    .ready_i  (product_ready),
    .scan_o   (unused_scan),
    .tag_o    (tag),
    .g_o      (value),
    .h_o      (h),
    .g_xhat_o (g_xhat),
    .h_xhat_o (h_xhat)
  );

  // -------------------------------------------------------------------------------------- sums
  // The channel without the element and with it. Nothing in a place counts before its first element.
  logic [ChannelW-1:0]  channels_q [Columns];
  channel_t             held, old, next;
  logic                 take;
  logic [4*32-1:0]      addends, sums;
  logic [31:0]          high, low;
  logic [IndexBits-1:0] argmax, argmin;
  logic                 value_nan, gives;

  assign held      = channels_q[tag.column];
  assign old       = tag.first ? '0 : held;
  assign value_nan = (value[30:0] > 31'h7F80_0000);

  running_extremes #(
    .IndexBits(IndexBits)
  ) u_extremes (
    .start_i (tag.chunk_first),
    .x_i     (value),
    .index_i (tag.index),
    .high_i  (old.high),
    .low_i   (old.low),
    .argmax_i(old.argmax),
    .argmin_i(old.argmin),
    .high_o  (high),
    .low_o   (low),
    .argmax_o(argmax),
    .argmin_o(argmin)
  );

  // The sums of a chunk's extremes and those of a backward pass share their adders.
  always_comb begin
    addends[0+:32]  = value;
    addends[32+:32] = tag.backward ? h : high;
    addends[64+:32] = tag.backward ? g_xhat : low;
    addends[96+:32] = h_xhat;
  end

  for (genvar i = 0; i < 4; i++) begin : gen_sums
    fp32_add_comb u_add (
      .a_i(old.sums[32*i+:32]),
      .b_i(addends[32*i+:32]),
      .z_o(sums[32*i+:32])
    );
  end

  always_comb begin
    next             = old;
    next.sums[0+:32] = sums[0+:32];
    if (tag.backward | tag.chunk_last) next.sums[32+:64] = sums[32+:64];
    if (tag.backward) begin
      next.sums[96+:32] = sums[96+:32];
    end else begin
      next.nan    = old.nan | value_nan;
      next.high   = high;
      next.low    = low;
      next.argmax = argmax;
      next.argmin = argmin;
    end
  end

  // ----------------------------------------------------------------------------------- results
  // A part ends with a result or without one.
  result_t  result_d, result_sent, result;
  channel_t stored;
  logic     leaves, leave_ready;
  logic     sent_valid, result_ready;

  assign gives         = tag.last | (tag.chunk_last & ~tag.backward);
  assign leaves        = gives | tag.part_last;
  assign product_ready = leave_ready | ~leaves;
  assign take          = product_valid & product_ready;

  always_comb begin
    stored = next;
    if (tag.part_last) begin
      stored.cut  = 1'b1;
      stored.sums = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) channels_q[tag.column] <= stored;
  end

  always_comb begin
    result_d        = '0;
    result_d.column = tag.column;
    result_d.chunk  = tag.chunk_last & ~tag.backward;
    result_d.last   = tag.last;
    if (result_d.chunk) begin
      result_d.argmax = argmax;
      result_d.argmin = argmin;
    end
    if (tag.last) begin
      result_d.sums = next.sums;
      result_d.nan  = next.nan;
    end
  end

  // ------------------------------------------------------------------------------------- parts
  if (Parts != 0) begin : gen_parts
    typedef struct packed {
      logic            first;  // of the channel's parts
      logic            last;   // a part ends
      logic            gives;
      logic [4*32-1:0] sums;
      result_t         result;
    } part_t;
    localparam int unsigned PartW = 3 + 4 * 32 + ResultW;

    part_t           part_d, part;
    logic            part_valid, part_ready;
    logic [4*32-1:0] totals_q [Columns];
    logic [4*32-1:0] earlier, totals;

    always_comb begin
      part_d.first  = ~old.cut;
      part_d.last   = tag.part_last;
      part_d.gives  = gives;
      part_d.sums   = next.sums;
      part_d.result = result_d;
    end

    pipe_reg #(
      .Width(PartW)
    ) u_part_reg (
      .clk_i,
      .rst_ni,
      .valid_i(product_valid & leaves),
      .ready_o(leave_ready),
      .data_i (part_d),
      .valid_o(part_valid),
      .ready_i(part_ready),
      .data_o (part)
    );

    assign earlier = part.first ? '0 : totals_q[part.result.column];

    for (genvar i = 0; i < 4; i++) begin : gen_totals
      fp32_add_comb u_total (
        .a_i(earlier[32*i+:32]),
        .b_i(part.sums[32*i+:32]),
        .z_o(totals[32*i+:32])
      );
    end

    assign sent_valid = part_valid & part.gives;
    assign part_ready = result_ready | ~part.gives;

    always_ff @(posedge clk_i) begin
      if (part_valid & part_ready & part.last) totals_q[part.result.column] <= totals;
    end

    always_comb begin
      result_sent = part.result;
      if (part.result.last) result_sent.sums = totals;
    end
  end else begin : gen_whole
    logic unused_parts;

    assign unused_parts = part_last_i ^ old.cut;
    assign sent_valid   = product_valid & gives;
    assign leave_ready  = result_ready;
    assign result_sent  = result_d;
  end

  pipe_reg #(
    .Width(ResultW)
  ) u_result_reg (
    .clk_i,
    .rst_ni,
    .valid_i(sent_valid),
    .ready_o(result_ready),
    .data_i (result_sent),
    .valid_o,
    .ready_i,
    .data_o (result)
  );

  assign column_o = result.column;
  assign chunk_o  = result.chunk;
  assign argmax_o = result.argmax;
  assign argmin_o = result.argmin;
  assign last_o   = result.last;
  assign sums_o   = result.sums;
  assign nan_o    = result.nan;

endmodule
