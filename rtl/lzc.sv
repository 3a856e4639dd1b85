// SPDX-License-Identifier: Apache-2.0
//
// Leading-zero count: the number of zeros above the highest one. Combinational. An input of all zeros
// gives Width - 1, so that shifting left by the count is always in range.

module lzc #(
  parameter  int unsigned Width      = 8,
  localparam int unsigned CountWidth = $clog2(Width)
) (
  input  logic [Width-1:0]      in_i,
  output logic [CountWidth-1:0] count_o
);

  always_comb begin
    count_o = CountWidth'(Width - 1);
    for (int unsigned i = 0; i < Width; i++) begin
      if (in_i[i]) count_o = CountWidth'(Width - 1 - i);
    end
  end

endmodule
