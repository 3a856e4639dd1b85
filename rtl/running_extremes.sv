// SPDX-License-Identifier: Apache-2.0
//
// The largest and the smallest of elements that come one after the other, and where they stand,
// with one more of them (ARITHMETIC.md 8, "Range BN"). Of equal ones the first counts; a NaN is
// neither unless it is the first element. Exact, combinational. Part of chunk_extremes and
// norm_statistics, which hold the registers.

module running_extremes #(
  parameter int unsigned IndexBits = 20
) (
  input  logic                 start_i,   // x_i is the first element
  input  logic [31:0]          x_i,       // FP32
  input  logic [IndexBits-1:0] index_i,
  input  logic [31:0]          high_i,
  input  logic [31:0]          low_i,
  input  logic [IndexBits-1:0] argmax_i,
  input  logic [IndexBits-1:0] argmin_i,
  output logic [31:0]          high_o,
  output logic [31:0]          low_o,
  output logic [IndexBits-1:0] argmax_o,
  output logic [IndexBits-1:0] argmin_o
);

  logic above, below;

  fp_less u_above (
    .a_i   (high_i),
    .b_i   (x_i),
    .less_o(above)
  );

  fp_less u_below (
    .a_i   (x_i),
    .b_i   (low_i),
    .less_o(below)
  );

  always_comb begin
    high_o   = high_i;
    low_o    = low_i;
    argmax_o = argmax_i;
    argmin_o = argmin_i;
    if (above | start_i) begin
      high_o   = x_i;
      argmax_o = index_i;
    end
    if (below | start_i) begin
      low_o    = x_i;
      argmin_o = index_i;
    end
  end

endmodule
