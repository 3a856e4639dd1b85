// SPDX-License-Identifier: Apache-2.0
//
// z_o = a_i * b_i + c_i in FP32 (ARITHMETIC.md 2): one rounding to nearest, NaN canonical,
// subnormals on. Latency PipeStages (0 to 3), one operation per cycle. fp_mac, FP32 everywhere.

module fp32_fma #(
  parameter  int unsigned PipeStages = 0,
  localparam int unsigned ExpW       = 10,  // products reach from 2^-298 to 2^255
  localparam int unsigned ProdW      = 48,
  localparam int unsigned Frame      = ProdW + 3,
  localparam int unsigned TapW       = ProdW + 4 * Frame + 3 * ExpW + 4 + 32
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          a_i,
  input  logic [31:0]          b_i,
  input  logic [31:0]          c_i,

  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [31:0]          z_o,
  output mantissa_pkg::flags_t flags_o,
  output logic [TapW-1:0]      tap_o
);

  fp_mac #(
    .AExp      (8),
    .AMan      (23),
    .ABias     (127),
    .BExp      (8),
    .BMan      (23),
    .BBias     (127),
    .AccExp    (8),
    .AccMan    (23),
    .PipeStages(PipeStages),
    .ExpW      (ExpW)
  ) u_mac (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .a_i,
    .b_i,
    .acc_i  (c_i),
    .rnd_i  (1'b0),
    .valid_o,
    .ready_i,
    .acc_o  (z_o),
    .flags_o,
    .tap_o
  );

endmodule
