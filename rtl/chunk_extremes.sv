// SPDX-License-Identifier: Apache-2.0
//
// The largest and the smallest element of each chunk of a channel, and where they stand
// (ARITHMETIC.md 8, "Range BN"). Of equal ones the first counts; a NaN is neither unless it is the
// chunk's first element. Exact; one element per cycle. Part of range_bn_forward.
//
// What it shows is that of the elements taken so far: of the whole chunk from the cycle after its
// last element to the first element of the next one.

module chunk_extremes #(
  parameter int unsigned IndexBits = 20
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 take_i,
  input  logic [31:0]          x_i,             // FP32
  input  logic [IndexBits-1:0] index_i,         // of x_i in the channel
  input  logic [IndexBits-1:0] chunk_length_i,
  input  logic                 channel_end_i,   // x_i is the last of its channel
  output logic                 chunk_end_o,     // x_i is the last of its chunk

  output logic [31:0]          high_o,
  output logic [31:0]          low_o,
  output logic [IndexBits-1:0] argmax_o,
  output logic [IndexBits-1:0] argmin_o
);

  logic [IndexBits-1:0] position_d, position_q;  // in the chunk
  logic [31:0]          high_d, high_q;
  logic [31:0]          low_d, low_q;
  logic [IndexBits-1:0] argmax_d, argmax_q;
  logic [IndexBits-1:0] argmin_d, argmin_q;
  logic [31:0]          high, low;               // with x_i
  logic [IndexBits-1:0] argmax, argmin;

  running_extremes #(
    .IndexBits(IndexBits)
  ) u_running (
    .start_i (position_q == '0),
    .x_i,
    .index_i,
    .high_i  (high_q),
    .low_i   (low_q),
    .argmax_i(argmax_q),
    .argmin_i(argmin_q),
    .high_o  (high),
    .low_o   (low),
    .argmax_o(argmax),
    .argmin_o(argmin)
  );

  assign chunk_end_o = (position_q == chunk_length_i - 1'b1);

  always_comb begin
    position_d = position_q;
    high_d     = high_q;
    low_d      = low_q;
    argmax_d   = argmax_q;
    argmin_d   = argmin_q;
    if (take_i) begin
      position_d = (chunk_end_o | channel_end_i) ? '0 : position_q + 1'b1;
      high_d     = high;
      low_d      = low;
      argmax_d   = argmax;
      argmin_d   = argmin;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      position_q <= '0;
      high_q     <= '0;
      low_q      <= '0;
      argmax_q   <= '0;
      argmin_q   <= '0;
    end else begin
      position_q <= position_d;
      high_q     <= high_d;
      low_q      <= low_d;
      argmax_q   <= argmax_d;
      argmin_q   <= argmin_d;
    end
  end

  assign high_o   = high_q;
  assign low_o    = low_q;
  assign argmax_o = argmax_q;
  assign argmin_o = argmin_q;

endmodule
