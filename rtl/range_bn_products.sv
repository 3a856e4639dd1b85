// SPDX-License-Identifier: Apache-2.0
//
// What range_bn_backward makes of an element before it goes to the sums or to the output
// (ARITHMETIC.md 8): in pass 1 xhat = (x - mean) * inv, then g * xhat and h * xhat; in pass 2
// (h - mh) * inv, that is dx without t. FP32, every operation rounded on its own, one per stage;
// what both passes compute has the same place in both, and what pass 2 has no use for carries what
// it needs: mh comes in the place of the mean, t in that of g. Latency 4, one element per cycle.
// Part of range_bn_backward and, with pass 1 alone, of norm_statistics.
//
// The multiplier of the third stage stands outside, where it also serves the sums between the
// passes, when nothing is in here: scaled_i is the product of scale_a_o and scale_b_o.

module range_bn_products #(
  parameter int unsigned TagW = 1
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  input  logic            valid_i,
  output logic            ready_o,
  input  logic            scan_i,     // pass 1
  input  logic [TagW-1:0] tag_i,      // travels with the element
  input  logic [31:0]     x_i,
  input  logic [31:0]     g_i,        // pass 2: t
  input  logic [31:0]     h_i,        // gamma * g
  input  logic [31:0]     mean_i,     // pass 2: mh
  input  logic [31:0]     inv_i,

  output logic [31:0]     scale_a_o,
  output logic [31:0]     scale_b_o,
  input  logic [31:0]     scaled_i,

  output logic            valid_o,
  input  logic            ready_i,
  output logic            scan_o,
  output logic [TagW-1:0] tag_o,
  output logic [31:0]     g_o,        // pass 2: t
  output logic [31:0]     h_o,
  output logic [31:0]     g_xhat_o,   // pass 2: dx without t
  output logic [31:0]     h_xhat_o
);

  typedef struct packed {
    logic            scan;
    logic [TagW-1:0] tag;
    logic [31:0]     x;
    logic [31:0]     g;
    logic [31:0]     h;
    logic [31:0]     mean;
    logic [31:0]     inv;
  } weighted_t;
  localparam int unsigned WeightedW = 1 + TagW + 5 * 32;

  typedef struct packed {
    logic            scan;
    logic [TagW-1:0] tag;
    logic [31:0]     g;
    logic [31:0]     h;
    logic [31:0]     centred;  // x - mean, or h - mh
    logic [31:0]     inv;
  } centred_t;
  localparam int unsigned CentredW = 1 + TagW + 4 * 32;

  typedef struct packed {
    logic            scan;
    logic [TagW-1:0] tag;
    logic [31:0]     g;
    logic [31:0]     h;
    logic [31:0]     scaled;  // centred * inv: xhat, or dx without t
  } scaled_t;
  localparam int unsigned ScaledW = 1 + TagW + 3 * 32;

  typedef struct packed {
    logic            scan;
    logic [TagW-1:0] tag;
    logic [31:0]     g;
    logic [31:0]     h;
    logic [31:0]     g_xhat;
    logic [31:0]     h_xhat;
  } product_t;
  localparam int unsigned ProductW = 1 + TagW + 4 * 32;

  weighted_t weighted_d, weighted;
  logic      weighted_valid, weighted_ready;
  centred_t  centred_d, centred;
  logic      centred_valid, centred_ready;
  scaled_t   scaled_d, scaled;
  logic      scaled_valid, scaled_ready;
  product_t  product_d, product;

  // ------------------------------------------------------------------------------------- enter
  always_comb begin
    weighted_d.scan = scan_i;
    weighted_d.tag  = tag_i;
    weighted_d.x    = x_i;
    weighted_d.g    = g_i;
    weighted_d.h    = h_i;
    weighted_d.mean = mean_i;
    weighted_d.inv  = inv_i;
  end

  pipe_reg #(
    .Width(WeightedW)
  ) u_weighted_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (weighted_d),
    .valid_o(weighted_valid),
    .ready_i(weighted_ready),
    .data_o (weighted)
  );

  // ------------------------------------------------------------------------------------ centre
  logic [31:0] centre_a, centre_b, centre_z;

  assign centre_a = weighted.scan ? weighted.x : weighted.h;
  assign centre_b = {~weighted.mean[31], weighted.mean[30:0]};

  fp32_add_comb u_centre (
    .a_i(centre_a),
    .b_i(centre_b),
    .z_o(centre_z)
  );

  always_comb begin
    centred_d.scan    = weighted.scan;
    centred_d.tag     = weighted.tag;
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

  // ------------------------------------------------------------------------------------- scale
  assign scale_a_o = centred.centred;
  assign scale_b_o = centred.inv;

  always_comb begin
    scaled_d.scan   = centred.scan;
    scaled_d.tag    = centred.tag;
    scaled_d.g      = centred.g;
    scaled_d.h      = centred.h;
    scaled_d.scaled = scaled_i;
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

  // ---------------------------------------------------------------------------------- multiply
  logic [31:0] g_xhat, h_xhat;

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

  always_comb begin
    product_d.scan   = scaled.scan;
    product_d.tag    = scaled.tag;
    product_d.g      = scaled.g;
    product_d.h      = scaled.h;
    product_d.g_xhat = scaled.scan ? g_xhat : scaled.scaled;
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
    .valid_o,
    .ready_i,
    .data_o (product)
  );

  assign scan_o   = product.scan;
  assign tag_o    = product.tag;
  assign g_o      = product.g;
  assign h_o      = product.h;
  assign g_xhat_o = product.g_xhat;
  assign h_xhat_o = product.h_xhat;

endmodule
