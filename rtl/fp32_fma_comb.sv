// SPDX-License-Identifier: Apache-2.0
//
// z_o = a_i * b_i + c_i in FP32, one rounding (ARITHMETIC.md 2): fp32_fma as plain logic inside a
// cycle, for units that have registers and a handshake of their own.

module fp32_fma_comb (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  input  logic [31:0] c_i,
  output logic [31:0] z_o
);

  logic                 unused_ready, unused_valid;
  mantissa_pkg::flags_t unused_flags;
  logic [317:0]         unused_tap;

  fp32_fma #(
    .PipeStages(0)
  ) u_fma (
    .clk_i  (1'b0),
    .rst_ni (1'b1),
    .valid_i(1'b1),
    .ready_o(unused_ready),
    .a_i,
    .b_i,
    .c_i,
    .valid_o(unused_valid),
    .ready_i(1'b1),
    .z_o,
    .flags_o(unused_flags),
    .tap_o  (unused_tap)
  );

endmodule
