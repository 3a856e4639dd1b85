// SPDX-License-Identifier: Apache-2.0
//
// How sums move through the rows of block_array and int_block_array (ARITHMETIC.md 7, "Two sets of
// accumulators"): row p of the SumRows on the port through rows p, p + SumRows, ... of the array, in
// a column each, so that no multiplexer stands behind them. Wires only.
//
// Where the last group has no such row, nothing moves in its cycle.

module sum_chain #(
  parameter int unsigned Rows    = 16,
  parameter int unsigned SumRows = 1,   // rows that are exchanged in a cycle, at most Rows
  parameter int unsigned Width   = 512  // of a row of sums
) (
  input  logic                     valid_i,  // a group of rows is exchanged
  input  logic                     last_i,   // the last one
  input  logic                     load_i,   // the rows take sum_i, else +0
  input  logic [SumRows*Width-1:0] sum_i,
  output logic [SumRows*Width-1:0] sum_o,

  input  logic [Rows*Width-1:0]    shadow_i,  // of all elements
  output logic [Rows-1:0]          shift_o,   // the row's elements take
  output logic [Rows*Width-1:0]    from_o     // this
);

  if (SumRows < 1 || SumRows > Rows) begin : gen_bad_sum_rows
    $error("sum_chain: SumRows must be 1 to Rows");
  end

  localparam int unsigned Groups = (Rows + SumRows - 1) / SumRows;

  for (genvar p = 0; p < SumRows; p++) begin : gen_port
    localparam bit Whole = ((Groups - 1) * SumRows + p < Rows);

    assign sum_o[p*Width+:Width] = (Whole | ~last_i) ? shadow_i[p*Width+:Width] : '0;
  end

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    localparam int unsigned P     = r % SumRows;
    localparam bit          Whole = ((Groups - 1) * SumRows + P < Rows);

    assign shift_o[r] = valid_i & (Whole | ~last_i);

    if (r + SumRows < Rows) begin : gen_neighbour
      assign from_o[r*Width+:Width] = shadow_i[(r+SumRows)*Width+:Width];
    end else begin : gen_edge
      assign from_o[r*Width+:Width] = sum_i[P*Width+:Width] & {Width{load_i}};
    end
  end

endmodule
