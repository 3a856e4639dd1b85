// SPDX-License-Identifier: Apache-2.0
//
// Run-length encoder of a sparse gradient (ARITHMETIC.md 9): an element in, at most one entry out;
// exact. Latency PipeStages (0 or 1), one element per cycle; an element without a result waits for
// nobody.
//
// A tensor ends with the element that has last_i, and always with a result that has last_o. Where
// the last element makes no entry, that result has entry_o = 0, run 0 and value +0, and is no part
// of the message. (rle_decoder may take it as an entry all the same: the tensor has a +0 there.)

module rle_encoder #(
  parameter int unsigned PipeStages = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] value_i,      // FP32
  input  logic [31:0] threshold_i,  // FP32, its sign does not count; the same for the whole tensor
  input  logic        last_i,

  output logic        valid_o,
  input  logic        ready_i,
  output logic [15:0] run_o,
  output logic [31:0] value_o,
  output logic        entry_o,
  output logic        last_o
);

  if (PipeStages > 1) begin : gen_bad_pipe_stages
    $error("rle_encoder: PipeStages must be 0 or 1");
  end

  typedef struct packed {
    logic [15:0] run;
    logic [31:0] value;
    logic        entry;
    logic        last;
  } result_t;
  localparam int unsigned ResultW = 16 + 32 + 1 + 1;

  logic [15:0] pending_d, pending_q;  // zeros since the last entry
  logic        survivor;
  logic        full;                  // one more zero would not fit an entry's run
  result_t     result_d, result;
  logic        result_needed, result_ready;
  logic        unused_threshold_sign;

  // Magnitudes of one format order as unsigned integers, Inf and NaN on top.
  assign survivor              = value_i[30:0] >= threshold_i[30:0];
  assign full                  = &pending_q;
  assign unused_threshold_sign = threshold_i[31];

  always_comb begin
    result_d.entry = survivor | full;
    result_d.run   = result_d.entry ? pending_q : '0;
    result_d.value = survivor ? value_i : '0;  // the +0 of a full run stands for this element
    result_d.last  = last_i;
  end

  assign result_needed = result_d.entry | last_i;
  assign ready_o       = result_ready | ~result_needed;

  always_comb begin
    pending_d = pending_q;
    if (valid_i & ready_o) pending_d = result_needed ? '0 : pending_q + 16'd1;
  end

  pipe_reg #(
    .Width (ResultW),
    .Enable(PipeStages >= 1)
  ) u_result_reg (
    .clk_i,
    .rst_ni,
    .valid_i(valid_i & result_needed),
    .ready_o(result_ready),
    .data_i (result_d),
    .valid_o,
    .ready_i,
    .data_o (result)
  );

  assign run_o   = result.run;
  assign value_o = result.value;
  assign entry_o = result.entry;
  assign last_o  = result.last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= '0;
    end else begin
      pending_q <= pending_d;
    end
  end

endmodule
