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

  always_comb begin
    rest    = Size'(in_i) << (Size - Width);
    count_o = '0;
    for (int unsigned i = 0; i < CountWidth; i++) begin
      // 2^step places, the largest step first.
      if ((rest >> (Size - (Size >> (i + 1)))) == '0) begin
        count_o[CountWidth-1-i] = 1'b1;
        rest                    = rest << (Size >> (i + 1));
      end
    end
  end

  assign out_o = rest[Size-1-:Width];

  if (Size > Width) begin : gen_padding
    logic unused_padding;
    assign unused_padding = ^rest[Size-Width-1:0];
  end

endmodule
