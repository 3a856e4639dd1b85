// SPDX-License-Identifier: Apache-2.0
//
// The operands of an output-stationary array (ARITHMETIC.md 7, "Skip"): skip window, staging, and
// what each row takes in a cycle. Part of mac_array, int_array and block_array: it knows an element's
// width, not its meaning.
//
// In: one beat, as skip_window has it, with the elements of Port k-slices. A window stays in a slot
// of a register file: its B is read by one multiplexer per processing element, its A by one per row,
// the bank.
// Out: the rows' operands. Nothing holds them up: an element takes what it is given.

module array_operands #(
  parameter  int unsigned Rows   = 16,
  parameter  int unsigned Cols   = 16,
  parameter  int unsigned Window = 16,  // as skip_window
  parameter  int unsigned Depth  = 2,
  parameter  int unsigned Port   = 4,
  parameter  int unsigned AW     = 8,   // bits of an element of A
  parameter  int unsigned BW     = 8,
  localparam int unsigned CountW = $clog2(Port + 1)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    valid_i,
  output logic                    ready_o,
  input  logic [Port*Rows*AW-1:0] a_i,        // slice p, row r at p * Rows + r
  input  logic [Port*Cols*BW-1:0] b_i,        // slice p, column c at p * Cols + c
  input  logic [Port*Rows-1:0]    nonzero_i,  // of A
  input  logic [CountW-1:0]       count_i,    // slices in this beat, 1..Port
  input  logic                    skip_i,
  input  logic                    last_i,     // this beat ends the step

  output logic [Rows-1:0]         enable_o,   // the row takes its operands
  output logic [Rows*AW-1:0]      a_o,        // row r at r
  output logic [Rows*Cols*BW-1:0] b_o,        // row r, column c at r * Cols + c
  output logic                    step_end_o  // the step's last cycle
);

  localparam int unsigned Words = Depth * Window;
  localparam int unsigned WordW = $clog2(Words);

  logic [WordW-1:0]      stage;
  logic                  work_valid;
  logic                  work_last;
  logic [Rows*WordW-1:0] word;

  assign step_end_o = work_valid & work_last;

  skip_window #(
    .Rows  (Rows),
    .Window(Window),
    .Depth (Depth),
    .Port  (Port)
  ) u_skip_window (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .nonzero_i,
    .count_i,
    .skip_i,
    .last_i,
    .stage_o (stage),
    .valid_o (work_valid),
    .ready_i (1'b1),
    .enable_o,
    .word_o  (word),
    .last_o  (work_last)
  );

  // ------------------------------------------------------------------------------------- staging
  logic [Rows*AW-1:0] a_staged_q [Words];
  logic [Cols*BW-1:0] b_staged_q [Words];

  for (genvar w = 0; w < Words; w++) begin : gen_word
    localparam int unsigned Lane = (w % Window) % Port;

    always_ff @(posedge clk_i) begin
      if (valid_i & ready_o & (stage == WordW'(w - Lane)) & (CountW'(Lane) < count_i)) begin
        a_staged_q[w] <= a_i[Lane*Rows*AW+:Rows*AW];
        b_staged_q[w] <= b_i[Lane*Cols*BW+:Cols*BW];
      end
    end
  end

  // ----------------------------------------------------------------------------------- selection
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [WordW-1:0] selected;

    assign selected                = word[r*WordW+:WordW];
    assign a_o[r*AW+:AW]           = a_staged_q[selected][r*AW+:AW];
    assign b_o[r*Cols*BW+:Cols*BW] = b_staged_q[selected];
  end

endmodule
