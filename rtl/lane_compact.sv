// SPDX-License-Identifier: Apache-2.0
//
// The codes of some lanes side by side, in ascending order, from lane 0 on; +0 behind them. Combinational.
// Each code moves down by the lanes below it that are left out, one bit of that number per step, lowest
// first: so no two codes meet.

module lane_compact #(
  parameter  int unsigned Lanes  = 16,
  parameter  int unsigned Width  = 8,
  localparam int unsigned CountW = $clog2(Lanes + 1)
) (
  input  logic [Lanes-1:0]       keep_i,
  input  logic [Lanes*Width-1:0] codes_i,
  output logic [Lanes*Width-1:0] codes_o,
  output logic [CountW-1:0]      count_o  // how many
);

  localparam int unsigned MoveW = $clog2(Lanes);

  logic [Lanes*MoveW-1:0] below;  // lanes that are left out below each

  always_comb begin
    below   = '0;
    count_o = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      below[i*MoveW+:MoveW] = MoveW'(i) - MoveW'(count_o);
      count_o               = count_o + CountW'(keep_i[i]);
    end
  end

  logic [Lanes-1:0]       keep, stay, go, come;
  logic [Lanes*MoveW-1:0] move, move_above;
  logic [Lanes*Width-1:0] codes_above;

  always_comb begin
    keep = keep_i;
    move = below;
    for (int unsigned i = 0; i < Lanes; i++) begin
      codes_o[i*Width+:Width] = codes_i[i*Width+:Width] & {Width{keep_i[i]}};
    end
    for (int unsigned s = 0; s < MoveW; s++) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        go[i] = keep[i] & move[i*MoveW+s];
      end
      stay        = keep & ~go;
      come        = go >> (1 << s);
      move_above  = move >> (MoveW << s);
      codes_above = codes_o >> (Width << s);
      keep        = stay | come;
      for (int unsigned i = 0; i < Lanes; i++) begin
        if (come[i]) move[i*MoveW+:MoveW] = move_above[i*MoveW+:MoveW];
        codes_o[i*Width+:Width] = (codes_o[i*Width+:Width] & {Width{stay[i]}}) |
                                  (codes_above[i*Width+:Width] & {Width{come[i]}});
      end
    end
  end

endmodule
