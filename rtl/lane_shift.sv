// SPDX-License-Identifier: Apache-2.0
//
// Codes moved up by some lanes, +0 below them. Combinational; one bit of the number of lanes per step.

module lane_shift #(
  parameter  int unsigned InLanes  = 16,
  parameter  int unsigned OutLanes = 31,  // what is moved beyond them is lost
  parameter  int unsigned Width    = 8,
  parameter  int unsigned PlacesW  = 4,
  localparam int unsigned OutW     = OutLanes * Width
) (
  input  logic [InLanes*Width-1:0] codes_i,
  input  logic [PlacesW-1:0]       places_i,
  output logic [OutW-1:0]          codes_o
);

  always_comb begin
    codes_o = OutW'(codes_i);
    for (int unsigned s = 0; s < PlacesW; s++) begin
      if (places_i[s]) codes_o = codes_o << (Width << s);
    end
  end

endmodule
