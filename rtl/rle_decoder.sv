// SPDX-License-Identifier: Apache-2.0
//
// Run-length decoder of a sparse gradient (ARITHMETIC.md 9): entries in, length_i elements out;
// exact. Latency PipeStages (0 or 1), one element per cycle. The last entry of a message has
// last_i; a message without entries is given as run 0, value +0, which decodes to the same zeros.
// length_i stands beside every entry of its tensor.
//
// Every tensor ends with one result that has last_o. An entry that does not fit has no element: in
// its place stands a result with last_o and error_o, value +0, and the rest of the message is
// swallowed. Then the tensor is refused as a whole: whoever took its first elements throws them
// away.

module rle_decoder #(
  parameter int unsigned LengthBits = 20,  // of length_i, at least 16
  parameter int unsigned PipeStages = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [15:0]           run_i,
  input  logic [31:0]           value_i,
  input  logic                  last_i,
  input  logic [LengthBits-1:0] length_i,  // of the tensor, at least 1

  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [31:0]           value_o,
  output logic                  last_o,
  output logic                  error_o
);

  if (LengthBits < 16) begin : gen_bad_length_bits
    $error("rle_decoder: LengthBits must be 16 or more, for run_i has 16 bits");
  end

  if (PipeStages > 1) begin : gen_bad_pipe_stages
    $error("rle_decoder: PipeStages must be 0 or 1");
  end

  typedef enum logic [1:0] {
    StEntry,   // at an entry's zeros or at its value
    StFill,    // past the value of the last entry, at the zeros up to length_i
    StSwallow  // past a bad entry, at the rest of its message
  } state_e;

  typedef struct packed {
    logic [31:0] value;
    logic        last;
    logic        error;
  } result_t;
  localparam int unsigned ResultW = 32 + 1 + 1;

  state_e                state_d, state_q;
  logic [LengthBits-1:0] position_d, position_q;  // of the next element
  logic [15:0]           zeros_d, zeros_q;        // of this entry's run, already out
  logic [LengthBits:0]   target;                  // position of this entry's value
  logic                  at_value;
  logic                  at_end;                  // the next element is the tensor's last
  result_t               result_d, result;
  logic                  result_valid, result_ready;

  assign target   = {1'b0, position_q} + (LengthBits + 1)'(run_i);
  assign at_value = (zeros_q == run_i);
  assign at_end   = (position_q == length_i - 1'b1);

  always_comb begin
    result_valid   = valid_i;
    result_d.value = '0;
    result_d.last  = 1'b0;
    result_d.error = 1'b0;
    ready_o        = 1'b0;
    state_d        = state_q;
    position_d     = position_q;
    zeros_d        = zeros_q;

    unique case (state_q)
      StEntry: begin
        if ((zeros_q == '0) & (target >= {1'b0, length_i})) begin
          result_d.last  = 1'b1;
          result_d.error = 1'b1;
          ready_o        = result_ready;
          if (valid_i & ready_o & ~last_i) state_d = StSwallow;
        end else begin
          if (at_value) begin
            result_d.value = value_i;
            result_d.last  = last_i & at_end;
            // The last entry stays until the tensor is full, so that length_i does.
            ready_o        = result_ready & (~last_i | at_end);
          end
          if (valid_i & result_ready) begin
            zeros_d = at_value ? '0 : zeros_q + 16'd1;
            if (at_value & last_i & ~at_end) state_d = StFill;
          end
        end
      end

      StFill: begin
        result_d.last = at_end;
        ready_o       = result_ready & at_end;
        if (valid_i & ready_o) state_d = StEntry;
      end

      default: begin
        result_valid = 1'b0;
        ready_o      = 1'b1;
        if (valid_i & last_i) state_d = StEntry;
      end
    endcase

    if (result_valid & result_ready) position_d = result_d.last ? '0 : position_q + 1'b1;
  end

  pipe_reg #(
    .Width (ResultW),
    .Enable(PipeStages >= 1)
  ) u_result_reg (
    .clk_i,
    .rst_ni,
    .valid_i(result_valid),
    .ready_o(result_ready),
    .data_i (result_d),
    .valid_o,
    .ready_i,
    .data_o (result)
  );

  assign value_o = result.value;
  assign last_o  = result.last;
  assign error_o = result.error;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StEntry;
      position_q <= '0;
      zeros_q    <= '0;
    end else begin
      state_q    <= state_d;
      position_q <= position_d;
      zeros_q    <= zeros_d;
    end
  end

endmodule
