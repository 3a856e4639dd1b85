// SPDX-License-Identifier: Apache-2.0
//
// One pipeline register with valid/ready: latency 1, one transfer per cycle, payload stable while stalled.
// Enable = 0 makes it a wire, so that a unit's PipeStages choose where its registers stand.

module pipe_reg #(
  parameter int unsigned Width  = 8,
  parameter bit          Enable = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);

  if (Enable) begin : gen_reg
    logic             valid_q;
    logic [Width-1:0] data_q;

    assign ready_o = ready_i | ~valid_q;
    assign valid_o = valid_q;
    assign data_o  = data_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q <= 1'b0;
        data_q  <= '0;
      end else if (ready_o) begin
        valid_q <= valid_i;
        if (valid_i) data_q <= data_i;
      end
    end
  end else begin : gen_wire
    logic unused_clock;

    assign ready_o      = ready_i;
    assign valid_o      = valid_i;
    assign data_o       = data_i;
    assign unused_clock = clk_i & rst_ni;
  end

endmodule
