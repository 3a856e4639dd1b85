// SPDX-License-Identifier: Apache-2.0
//
// Moves the leading one to the top and says by how many places. Combinational. Each step asks whether the
// upper half of what is left to search is empty, and shifts it away: counting and shifting share their
// multiplexers. An input of all zeros stays so, with a count of all ones.

module normalise #(
  parameter  int unsigned Width      = 8,  // 2 or more
  localparam int unsigned CountWidth = $clog2(Width)
) (
  input  logic [Width-1:0]      in_i,
  output logic [CountWidth-1:0] count_o,
  output logic [Width-1:0]      out_o
);

  localparam int unsigned Size = 32'd1 << CountWidth;

  logic [Size-1:0] rest;

  assign rest = Size'(in_i) << (Size - Width);

  // 2^(CountWidth-1) places first, then half as many in each step.
  for (genvar i = 0; i < CountWidth; i++) begin : gen_step
    localparam int unsigned Places = Size >> (i + 1);

    logic [Size-1:0] search, left;
    logic            empty;

    if (i == 0) begin : gen_first
      assign search = rest;
    end else begin : gen_next
      assign search = gen_step[i-1].left;
    end
    assign empty                   = (search[Size-1-:Places] == '0);
    assign left                    = empty ? search << Places : search;
    assign count_o[CountWidth-1-i] = empty;
  end

  assign out_o = gen_step[CountWidth-1].left[Size-1-:Width];

  if (Size > Width) begin : gen_padding
    logic unused_padding;
    assign unused_padding = ^gen_step[CountWidth-1].left[Size-Width-1:0];
  end

endmodule
