// SPDX-License-Identifier: Apache-2.0
//
// Rows x Cols output-stationary array with two sets of sums (ARITHMETIC.md 4, 7, "Two sets of
// accumulators"): one set works, the other is exchanged with a buffer of sums. One rounding to
// nearest per step; exact in bits and in cycles.
//
// In: beats as in mac_array. used_i and cols_i are the same for all beats of a run: rows that are
// not in use and columns that are not enabled hold their sums, whatever their operands. last_i ends
// a run; swap_i counts with it and ends the tile, without it the next run adds to the same sums.
// Exchange: where a tile's compute ends at E, the sets change roles in cycle X = E, or as soon as
// the exchange before is over; beats of the next tile are taken from X on. The tile's rows are out
// in cycles X + 2 to X + 1 + ceil(Rows / SumRows), ascending, SumRows in a cycle; there is no
// ready_i. In the same cycle load_i and sum_i give the rows' new sums, +0 without load_i. Sums move
// through the elements of a column, the lowest row is the port: no multiplexer stands behind them.

module block_array #(
  parameter  int unsigned Rows      = 16,
  parameter  int unsigned Cols      = 16,
  parameter  int unsigned Window    = 16,  // as skip_window
  parameter  int unsigned Depth     = 2,
  parameter  int unsigned Port      = 4,
  parameter  int unsigned AExp      = 5,
  parameter  int unsigned AMan      = 2,
  parameter  int unsigned ABias     = 15,
  parameter  int unsigned ASpecials = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned BExp      = 5,
  parameter  int unsigned BMan      = 2,
  parameter  int unsigned BBias     = 15,
  parameter  int unsigned BSpecials = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned AccExp    = 8,
  parameter  int unsigned AccMan    = 23,
  parameter  int unsigned SumRows   = 1,   // rows that are exchanged in a cycle, at most Rows
  localparam int unsigned AW        = 1 + AExp + AMan,
  localparam int unsigned BW        = 1 + BExp + BMan,
  localparam int unsigned AccW      = 1 + AccExp + AccMan,
  localparam int unsigned CountW    = $clog2(Port + 1)
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,

  input  logic                         valid_i,
  output logic                         ready_o,
  input  logic [Port*Rows*AW-1:0]      a_i,      // slice p, row r at p * Rows + r
  input  logic [Port*Cols*BW-1:0]      b_i,      // slice p, column c at p * Cols + c
  input  logic [CountW-1:0]            count_i,  // slices in this beat, 1..Port
  input  logic [Rows-1:0]              used_i,   // rows in use
  input  logic                         skip_i,
  input  logic                         last_i,   // this beat ends the run
  input  logic [Cols-1:0]              cols_i,   // columns enabled
  input  logic                         swap_i,   // and the run its tile

  input  logic                         load_i,   // with valid_o: the rows take sum_i, else +0
  input  logic [SumRows*Cols*AccW-1:0] sum_i,    // row p of these, column c at p * Cols + c

  output logic                         valid_o,  // rows are exchanged
  output logic [SumRows*Cols*AccW-1:0] sum_o,    // as sum_i; +0 beyond the last row
  output logic                         last_o,   // the tile's last ones
  output logic                         suppressed_o  // of the tile: as in mac_array
);

  if (AccExp > 8 || AccMan > 23) begin : gen_bad_accumulator
    $error("block_array: the accumulator must fit FP32, which products are exact in");
  end

  // -------------------------------------------------------------------------- the beat's operands
  logic [Port*Rows-1:0]    nonzero;
  logic                    suppresses;
  logic                    compute;
  logic                    operands_ready;
  logic                    beat_fire;
  logic [Rows-1:0]         enable;
  logic [Rows*AW-1:0]      a;
  logic [Rows*Cols*BW-1:0] b;
  logic                    run_end;
  logic [Rows-1:0]         used_d, used_q;  // of the run
  logic [Cols-1:0]         cols_d, cols_q;

  assign ready_o   = operands_ready & compute;
  assign beat_fire = valid_i & ready_o;
  assign used_d    = beat_fire ? used_i : used_q;
  assign cols_d    = beat_fire ? cols_i : cols_q;

  beat_codes #(
    .Rows     (Rows),
    .Cols     (Cols),
    .Port     (Port),
    .AExp     (AExp),
    .AMan     (AMan),
    .ASpecials(ASpecials),
    .BExp     (BExp),
    .BMan     (BMan),
    .BSpecials(BSpecials)
  ) u_codes (
    .a_i,
    .b_i,
    .count_i,
    .used_i,
    .cols_i,
    .nonzero_o   (nonzero),
    .suppresses_o(suppresses)
  );

  array_operands #(
    .Rows  (Rows),
    .Cols  (Cols),
    .Window(Window),
    .Depth (Depth),
    .Port  (Port),
    .AW    (AW),
    .BW    (BW)
  ) u_operands (
    .clk_i,
    .rst_ni,
    .valid_i   (valid_i & compute),
    .ready_o   (operands_ready),
    .a_i,
    .b_i,
    .nonzero_i (nonzero & {Port{used_i}}),
    .count_i,
    .skip_i,
    .last_i,
    .enable_o  (enable),
    .a_o       (a),
    .b_o       (b),
    .step_end_o(run_end)
  );

  // ------------------------------------------------------------------------------------- exchange
  localparam int unsigned Groups = (Rows + SumRows - 1) / SumRows;

  logic swap;
  logic suppressed_d, suppressed_q;  // of the tile that is computed
  logic exchanged_d, exchanged_q;    // of the one that is exchanged

  array_exchange #(
    .Groups(Groups)
  ) u_exchange (
    .clk_i,
    .rst_ni,
    .compute_o  (compute),
    .last_beat_i(beat_fire & last_i),
    .swap_i,
    .run_end_i  (run_end),
    .swap_o     (swap),
    .valid_o,
    .last_o
  );

  assign suppressed_o = exchanged_q;
  assign suppressed_d = (suppressed_q & ~swap) | (beat_fire & skip_i & suppresses);
  assign exchanged_d  = swap ? suppressed_q : exchanged_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q       <= '0;
      cols_q       <= '0;
      suppressed_q <= 1'b0;
      exchanged_q  <= 1'b0;
    end else begin
      used_q       <= used_d;
      cols_q       <= cols_d;
      suppressed_q <= suppressed_d;
      exchanged_q  <= exchanged_d;
    end
  end

  // --------------------------------------------------------------------------------- the elements
  logic [Rows*Cols*AccW-1:0] shadow;
  logic [Rows*Cols*AccW-1:0] from;
  logic [Rows-1:0]           shift;

  sum_chain #(
    .Rows   (Rows),
    .SumRows(SumRows),
    .Width  (Cols * AccW)
  ) u_chain (
    .valid_i (valid_o),
    .last_i  (last_o),
    .load_i,
    .sum_i,
    .sum_o,
    .shadow_i(shadow),
    .shift_o (shift),
    .from_o  (from)
  );

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    for (genvar c = 0; c < Cols; c++) begin : gen_col
      block_pe #(
        .AExp     (AExp),
        .AMan     (AMan),
        .ABias    (ABias),
        .ASpecials(ASpecials),
        .BExp     (BExp),
        .BMan     (BMan),
        .BBias    (BBias),
        .BSpecials(BSpecials),
        .AccExp   (AccExp),
        .AccMan   (AccMan)
      ) u_pe (
        .clk_i,
        .rst_ni,
        .valid_i(enable[r] & used_q[r] & cols_q[c]),
        .swap_i (swap),
        .a_i    (a[r*AW+:AW]),
        .b_i    (b[(r*Cols+c)*BW+:BW]),
        .shift_i(shift[r]),
        .sum_i  (from[(r*Cols+c)*AccW+:AccW]),
        .sum_o  (shadow[(r*Cols+c)*AccW+:AccW])
      );
    end
  end

endmodule
