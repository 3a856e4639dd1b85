// SPDX-License-Identifier: Apache-2.0
//
// Address generator between a buffer of lines and the array (ARITHMETIC.md 7, "Addresses"). In: what
// does not change in a run, of every lane (a row of A or a column of B) and of the walk that they
// share. Out, a beat after the other: the line and the element of it that each lane reads for each
// k of the beat, and 0 where it reads none: padding, and lanes that are not in use.
//
// Lanes stand still. The walk goes through up to Port k in a cycle: two counters that wrap choose
// its steps. Numbers are modulo a power of 2, so what is left of an image or above it is large.
//
// One beat per cycle. Latency 1: the first beat is there in the cycle after its run was taken, and
// a run is taken with the last beat of the one before.

module lowering_unit #(
  parameter  int unsigned Lanes       = 16,
  parameter  int unsigned Window      = 16,  // k per window: no beat goes beyond one
  parameter  int unsigned Port        = 4,   // k per beat, at most Window
  parameter  int unsigned LineBits    = 16,  // of lines, and of y in an image
  parameter  int unsigned ElementBits = 16,  // of elements in a line, and of x in an image
  parameter  int unsigned LengthBits  = 16,
  localparam int unsigned CountW      = $clog2(Port + 1)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,

  input  logic                              valid_i,
  output logic                              ready_o,
  input  logic [Lanes-1:0]                  used_i,
  input  logic [Lanes*LineBits-1:0]         line_i,       // of lanes
  input  logic [Lanes*LineBits-1:0]         y_i,
  input  logic [Lanes*ElementBits-1:0]      element_i,
  input  logic [Lanes*ElementBits-1:0]      x_i,
  input  logic [2*LineBits-1:0]             line_steps_i,  // middle, outer
  input  logic [2*LineBits-1:0]             y_steps_i,
  input  logic [3*ElementBits-1:0]          element_steps_i,  // inner, middle, outer
  input  logic [3*ElementBits-1:0]          x_steps_i,
  input  logic [ElementBits-1:0]            inner_last_i,
  input  logic [LineBits-1:0]               middle_first_i,
  input  logic [LineBits-1:0]               middle_last_i,
  input  logic [LineBits-1:0]               height_i,
  input  logic [ElementBits-1:0]            width_i,
  input  logic [LengthBits-1:0]             length_i,  // k of the run, at least 1

  output logic                              valid_o,
  input  logic                              ready_i,
  output logic [CountW-1:0]                 count_o,  // k of this beat
  output logic                              last_o,   // it ends the run
  output logic [Port*Lanes-1:0]             read_o,   // slice p, lane l at p * Lanes + l
  output logic [Port*Lanes*LineBits-1:0]    line_o,
  output logic [Port*Lanes*ElementBits-1:0] element_o
);

  if (Lanes < 1) begin : gen_bad_lanes
    $error("lowering_unit: Lanes must be 1 or more");
  end

  if (Port < 1 || Port > Window) begin : gen_bad_port
    $error("lowering_unit: Port must be 1 to Window");
  end

  if (LineBits < 2 || LineBits > 32 || ElementBits < 2 || ElementBits > 32) begin : gen_bad_bits
    $error("lowering_unit: LineBits and ElementBits must be 2 to 32");
  end

  if (LengthBits < CountW || LengthBits > 32) begin : gen_bad_length
    $error("lowering_unit: LengthBits must be 32 at most, and hold Port");
  end

  localparam int unsigned WindowW = $clog2(Window + 1);

  // ----------------------------------------------------------------------------------- the run
  logic                         run_q;
  logic                         run_fire, beat_fire;
  logic [Lanes-1:0]             used_q;
  logic [Lanes*LineBits-1:0]    line_q, y_q;
  logic [Lanes*ElementBits-1:0] element_q, x_q;
  logic [2*LineBits-1:0]        line_steps_q, y_steps_q;
  logic [3*ElementBits-1:0]     element_steps_q, x_steps_q;
  logic [ElementBits-1:0]       inner_last_q;
  logic [LineBits-1:0]          middle_last_q;
  logic [LineBits-1:0]          height_q;
  logic [ElementBits-1:0]       width_q;

  assign valid_o   = run_q;
  assign ready_o   = ~run_q | (ready_i & last_o);
  assign run_fire  = valid_i & ready_o;
  assign beat_fire = valid_o & ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)        run_q <= 1'b0;
    else if (run_fire)  run_q <= 1'b1;
    else if (beat_fire) run_q <= ~last_o;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q          <= '0;
      line_q          <= '0;
      y_q             <= '0;
      element_q       <= '0;
      x_q             <= '0;
      line_steps_q    <= '0;
      y_steps_q       <= '0;
      element_steps_q <= '0;
      x_steps_q       <= '0;
      inner_last_q    <= '0;
      middle_last_q   <= '0;
      height_q        <= '0;
      width_q         <= '0;
    end else if (run_fire) begin
      used_q          <= used_i;
      line_q          <= line_i;
      y_q             <= y_i;
      element_q       <= element_i;
      x_q             <= x_i;
      line_steps_q    <= line_steps_i;
      y_steps_q       <= y_steps_i;
      element_steps_q <= element_steps_i;
      x_steps_q       <= x_steps_i;
      inner_last_q    <= inner_last_i;
      middle_last_q   <= middle_last_i;
      height_q        <= height_i;
      width_q         <= width_i;
    end
  end

  // ---------------------------------------------------------------------------------- its beats
  logic [LengthBits-1:0] left_q, left_d;      // k of the run from this beat on
  logic [WindowW-1:0]    window_q, window_d;  // of the window
  logic [CountW-1:0]     most;                // that port and window allow

  assign most     = (window_q < WindowW'(Port)) ? CountW'(window_q) : CountW'(Port);
  assign last_o   = left_q <= LengthBits'(most);
  assign count_o  = last_o ? CountW'(left_q) : most;
  assign left_d   = left_q - LengthBits'(count_o);
  assign window_d = (window_q == WindowW'(count_o)) ? WindowW'(Window)
                                                    : window_q - WindowW'(count_o);

  // ------------------------------------------------------------------------------------ the walk
  logic [ElementBits-1:0]      inner_q, inner_d, element_walk_q, element_walk_d, x_walk_q, x_walk_d;
  logic [LineBits-1:0]         middle_q, middle_d, line_walk_q, line_walk_d, y_walk_q, y_walk_d;
  logic [Port*LineBits-1:0]    line_walks, y_walks;  // of this beat
  logic [Port*ElementBits-1:0] element_walks, x_walks;
  logic                        wrap, around;

  // Behind the beat's last k, in the loop's own variables, stands where the next beat begins.
  always_comb begin
    inner_d        = inner_q;
    middle_d       = middle_q;
    line_walk_d    = line_walk_q;
    y_walk_d       = y_walk_q;
    element_walk_d = element_walk_q;
    x_walk_d       = x_walk_q;
    wrap           = 1'b0;
    around         = 1'b0;
    for (int unsigned p = 0; p < Port; p++) begin
      line_walks[p*LineBits+:LineBits]          = line_walk_d;
      y_walks[p*LineBits+:LineBits]             = y_walk_d;
      element_walks[p*ElementBits+:ElementBits] = element_walk_d;
      x_walks[p*ElementBits+:ElementBits]       = x_walk_d;
      wrap                                      = inner_d == inner_last_q;
      around                                    = wrap & (middle_d == middle_last_q);
      if (CountW'(p) < count_o) begin
        inner_d = wrap ? '0 : inner_d + 1'b1;
        if (around) begin
          middle_d       = '0;
          line_walk_d    = line_walk_d + line_steps_q[LineBits+:LineBits];
          y_walk_d       = y_walk_d + y_steps_q[LineBits+:LineBits];
          element_walk_d = element_walk_d + element_steps_q[2*ElementBits+:ElementBits];
          x_walk_d       = x_walk_d + x_steps_q[2*ElementBits+:ElementBits];
        end else if (wrap) begin
          middle_d       = middle_d + 1'b1;
          line_walk_d    = line_walk_d + line_steps_q[0+:LineBits];
          y_walk_d       = y_walk_d + y_steps_q[0+:LineBits];
          element_walk_d = element_walk_d + element_steps_q[ElementBits+:ElementBits];
          x_walk_d       = x_walk_d + x_steps_q[ElementBits+:ElementBits];
        end else begin
          element_walk_d = element_walk_d + element_steps_q[0+:ElementBits];
          x_walk_d       = x_walk_d + x_steps_q[0+:ElementBits];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q         <= '0;
      window_q       <= '0;
      inner_q        <= '0;
      middle_q       <= '0;
      line_walk_q    <= '0;
      y_walk_q       <= '0;
      element_walk_q <= '0;
      x_walk_q       <= '0;
    end else if (run_fire) begin
      left_q         <= length_i;
      window_q       <= WindowW'(Window);
      inner_q        <= '0;
      middle_q       <= middle_first_i;
      line_walk_q    <= '0;
      y_walk_q       <= '0;
      element_walk_q <= '0;
      x_walk_q       <= '0;
    end else if (beat_fire) begin
      left_q         <= left_d;
      window_q       <= window_d;
      inner_q        <= inner_d;
      middle_q       <= middle_d;
      line_walk_q    <= line_walk_d;
      y_walk_q       <= y_walk_d;
      element_walk_q <= element_walk_d;
      x_walk_q       <= x_walk_d;
    end
  end

  // ---------------------------------------------------------------------------------- addresses
  for (genvar p = 0; p < Port; p++) begin : gen_slice
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      localparam int unsigned At = p * Lanes + l;

      logic [LineBits-1:0]    line, y;
      logic [ElementBits-1:0] element, x;

      assign line    = line_q[l*LineBits+:LineBits] + line_walks[p*LineBits+:LineBits];
      assign y       = y_q[l*LineBits+:LineBits] + y_walks[p*LineBits+:LineBits];
      assign element = element_q[l*ElementBits+:ElementBits] +
                       element_walks[p*ElementBits+:ElementBits];
      assign x       = x_q[l*ElementBits+:ElementBits] + x_walks[p*ElementBits+:ElementBits];

      assign read_o[At] = (CountW'(p) < count_o) & used_q[l] & (y < height_q) & (x < width_q);
      assign line_o[At*LineBits+:LineBits]          = read_o[At] ? line : '0;
      assign element_o[At*ElementBits+:ElementBits] = read_o[At] ? element : '0;
    end
  end

endmodule
