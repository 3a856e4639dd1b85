// SPDX-License-Identifier: Apache-2.0
//
// When each row of the array takes which element, zeros of A left out (ARITHMETIC.md 7, "Skip").
// Exact in time: Ld(w) and T(r, w) of the text, cycle for cycle.
//
// In: one beat of the B port, Port k-slices with the non-zero bits of A's rows. A window is Window
// slices, the last one of a step may be shorter; beats are full but for the last one of a window.
// stage_o is the word of the staging memory, slot * Window + k, that takes the beat's first slice;
// the others follow. No beat of the next step is taken before all rows have finished this one.
// Out: one cycle of work. Each row that is enabled takes the element in its word. A cycle that is
// not taken (ready_i low) is no cycle: everything stands still. last_o marks a step's last cycle.

module skip_window #(
  parameter  int unsigned Rows   = 16,
  parameter  int unsigned Window = 16,  // k per window, at least 2
  parameter  int unsigned Depth  = 2,   // windows staged at a time
  parameter  int unsigned Port   = 4,   // k-slices per beat, at most Window
  localparam int unsigned Words  = Depth * Window,
  localparam int unsigned WordW  = $clog2(Words),
  localparam int unsigned CountW = $clog2(Port + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [Port*Rows-1:0]  nonzero_i,  // bit p * Rows + r: slice p, row r
  input  logic [CountW-1:0]     count_i,    // slices in this beat, 1..Port
  input  logic                  skip_i,     // off: zeros are taken like everything else
  input  logic                  last_i,     // this beat ends the step
  output logic [WordW-1:0]      stage_o,

  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [Rows-1:0]       enable_o,
  output logic [Rows*WordW-1:0] word_o,  // 0 unless enabled
  output logic                  last_o
);

  if (Window < 2 || Port < 1 || Port > Window) begin : gen_bad_window
    $error("skip_window: Window must be 2 or more, and Port 1 to Window");
  end

  localparam int unsigned Beats = (Window + Port - 1) / Port;
  localparam int unsigned BeatW = (Beats == 1) ? 1 : $clog2(Beats);
  localparam int unsigned SlotW = (Depth == 1) ? 1 : $clog2(Depth);
  localparam int unsigned KW    = $clog2(Window);

  logic             stall;
  logic             beat_fire;
  logic             window_fire;           // the beat completes its window
  logic             closing_d, closing_q;  // the step's last beat is in, its work is not finished
  logic [Depth-1:0] slot_busy;             // a row still needs the slot
  logic [Rows-1:0]  busy_after;            // the row still needs any slot after this cycle
  logic [Rows-1:0]  active;

  // ------------------------------------------------------------------------------------ staging
  logic [BeatW-1:0] beat_q;
  logic [SlotW-1:0] slot_q;

  assign stall       = valid_o & ~ready_i;
  assign ready_o     = ~slot_busy[slot_q] & ~closing_q & ~stall;
  assign beat_fire   = valid_i & ready_o;
  assign window_fire = beat_fire & (last_i | (beat_q == BeatW'(Beats - 1)));

  if (Beats > 1) begin : gen_beat
    logic [BeatW-1:0] beat_d;

    always_comb begin
      beat_d = beat_q;
      if (beat_fire) beat_d = window_fire ? '0 : beat_q + 1'b1;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) beat_q <= '0;
      else         beat_q <= beat_d;
    end
  end else begin : gen_one_beat
    assign beat_q = '0;
  end

  if (Depth > 1) begin : gen_slot
    logic [SlotW-1:0] slot_d;

    always_comb begin
      slot_d = slot_q;
      if (window_fire) slot_d = (slot_q == SlotW'(Depth - 1)) ? '0 : slot_q + 1'b1;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) slot_q <= '0;
      else         slot_q <= slot_d;
    end
  end else begin : gen_one_slot
    assign slot_q = '0;
  end

  assign stage_o = WordW'(slot_q) * WordW'(Window) + WordW'(beat_q) * WordW'(Port);

  logic [Words-1:0] staged;  // in this cycle

  for (genvar w = 0; w < Words; w++) begin : gen_staged
    localparam int unsigned Lane = (w % Window) % Port;
    assign staged[w] = beat_fire & (stage_o == WordW'(w - Lane)) & (CountW'(Lane) < count_i);
  end

  always_comb begin
    closing_d = closing_q;
    if (beat_fire & last_i) closing_d = 1'b1;
    if (valid_o & last_o & ~stall) closing_d = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) closing_q <= 1'b0;
    else         closing_q <= closing_d;
  end

  // --------------------------------------------------------------------------------------- rows
  // Per slot: the elements that the row has still to take, and whether it has still to visit the
  // window (for one cycle even if there is nothing to take). Slots are visited in staging order.
  logic [Depth*Rows-1:0] visit;

  for (genvar s = 0; s < Depth; s++) begin : gen_slot_busy
    assign slot_busy[s] = (visit[s*Rows+:Rows] != '0);
  end

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [Words-1:0]  take_d, take_q;
    logic [Depth-1:0]  visit_d, visit_q;
    logic [SlotW-1:0]  at_q;  // slot
    logic [Window-1:0] here;  // left to take in this slot
    logic [Window-1:0] rest;  // after this cycle
    logic [KW-1:0]     k;
    logic              done;  // with this window, after this cycle
    logic [Depth-1:0]  left;  // to visit after this cycle

    assign here      = take_q[at_q*Window+:Window];
    assign rest      = here & (here - 1'b1);
    assign active[r] = visit_q[at_q];
    assign done      = active[r] & (rest == '0);
    assign left      = visit_q & ~(Depth'(done) << at_q);

    always_comb begin
      k = '0;
      for (int unsigned i = Window; i > 0; i--) begin
        if (here[i-1]) k = KW'(i - 1);
      end
    end

    assign busy_after[r]          = (left != '0);
    assign enable_o[r]            = active[r] & (here != '0);
    assign word_o[r*WordW+:WordW] =
        enable_o[r] ? WordW'(at_q) * WordW'(Window) + WordW'(k) : '0;

    always_comb begin
      take_d  = take_q;
      visit_d = visit_q;
      if (active[r] & ~stall) begin
        take_d[at_q*Window+:Window] = rest;
        visit_d                     = left;
      end
      for (int unsigned w = 0; w < Words; w++) begin
        if (staged[w]) take_d[w] = nonzero_i[((w%Window)%Port)*Rows+r] | ~skip_i;
      end
      if (window_fire) visit_d[slot_q] = 1'b1;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        take_q  <= '0;
        visit_q <= '0;
      end else begin
        take_q  <= take_d;
        visit_q <= visit_d;
      end
    end

    if (Depth > 1) begin : gen_at
      logic [SlotW-1:0] at_d;

      always_comb begin
        at_d = at_q;
        if (done & ~stall) at_d = (at_q == SlotW'(Depth - 1)) ? '0 : at_q + 1'b1;
      end
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) at_q <= '0;
        else         at_q <= at_d;
      end
    end else begin : gen_one_at
      assign at_q = '0;
    end

    for (genvar s = 0; s < Depth; s++) begin : gen_visit
      assign visit[s*Rows+r] = visit_q[s];
    end
  end

  assign valid_o = (active != '0);
  assign last_o  = closing_q & (busy_after == '0);

endmodule
