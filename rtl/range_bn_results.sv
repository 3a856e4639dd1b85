// SPDX-License-Identifier: Apache-2.0
//
// The way of a result of range_bn_forward to its output (ARITHMETIC.md 8): an element, which comes
// as x - mean, becomes * inv, then * gamma + beta, fused; other results pass as they are, in order.
// Latency 3, one result per cycle. Part of range_bn_forward.
//
// The multiplier stands outside, where it also serves the statistics while no element is in front
// of it: scaled_i is the product of scale_a_o and scale_b_o.

module range_bn_results (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic [1:0]  kind_i,    // mantissa_pkg::bn_kind_e
  input  logic [31:0] first_i,   // of an element: x - mean
  input  logic [31:0] second_i,  // of an element: inv
  input  logic [31:0] gamma_i,
  input  logic [31:0] beta_i,
  input  logic        last_i,

  output logic [31:0] scale_a_o,
  output logic [31:0] scale_b_o,
  input  logic [31:0] scaled_i,

  output logic        valid_o,
  input  logic        ready_i,
  output logic [1:0]  kind_o,
  output logic [31:0] first_o,   // of an element: y
  output logic [31:0] second_o,  // of an element: +0
  output logic        last_o
);

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

  centred_t    centred_d, centred;
  logic        centred_valid, centred_ready;
  scaled_t     scaled_d, scaled;
  logic        scaled_valid, scaled_ready;
  result_t     result_d, result;
  logic [31:0] y;
  logic        centred_element, scaled_element;

  assign centred_element = (centred.kind == mantissa_pkg::BnElement);
  assign scaled_element  = (scaled.kind == mantissa_pkg::BnElement);

  always_comb begin
    centred_d.kind   = kind_i;
    centred_d.first  = first_i;
    centred_d.second = second_i;
    centred_d.gamma  = gamma_i;
    centred_d.beta   = beta_i;
    centred_d.last   = last_i;
  end

  pipe_reg #(
    .Width(CentredW)
  ) u_centred_reg (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .data_i (centred_d),
    .valid_o(centred_valid),
    .ready_i(centred_ready),
    .data_o (centred)
  );

  assign scale_a_o = centred.first;
  assign scale_b_o = centred.second;

  always_comb begin
    scaled_d.kind   = centred.kind;
    scaled_d.first  = centred_element ? scaled_i : centred.first;
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

  fp32_fma_comb u_fma (
    .a_i(scaled.first),
    .b_i(scaled.second),
    .c_i(scaled.beta),
    .z_o(y)
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
