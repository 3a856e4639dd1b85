// SPDX-License-Identifier: Apache-2.0
//
// z_o = a_i * b_i in FP32, one rounding (ARITHMETIC.md 2): fp32_mul as plain logic inside a cycle,
// for units that have registers and a handshake of their own.

module fp32_mul_comb (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] z_o
);

  logic                 unused_ready, unused_valid;
  mantissa_pkg::flags_t unused_flags;

  fp32_mul #(
    .PipeStages(0)
  ) u_mul (
    .clk_i  (1'b0),
    .rst_ni (1'b1),
    .valid_i(1'b1),
    .ready_o(unused_ready),
    .a_i,
    .b_i,
    .valid_o(unused_valid),
    .ready_i(1'b1),
    .z_o,
    .flags_o(unused_flags)
  );

endmodule
