// SPDX-License-Identifier: Apache-2.0
//
// The magnitude of an FP32 number as a fixed-point number with Int bits before the point and Frac
// bits behind it. Combinational. What lies below 2^-Frac is dropped. Numbers from 1/2 on lose
// nothing, because Frac is 24 or more.

module fp_to_fixed #(
  parameter int unsigned Int  = 8,
  parameter int unsigned Frac = 24  // 24 or more
) (
  input  logic [30:0]     mag_i,   // an FP32 code without its sign
  output logic            nan_o,
  output logic            over_o,  // Inf, NaN or 2^Int at least: the value below means nothing
  output logic [Int-1:0]  int_o,
  output logic [Frac-1:0] frac_o
);

  localparam int unsigned Width = Int + Frac;

  logic [7:0]       field;
  logic [7:0]       shift;
  logic [Width-1:0] fixed;

  assign field  = mag_i[30:23];
  assign nan_o  = (&field) & (mag_i[22:0] != '0);
  assign over_o = (field >= 8'(127 + Int));

  // The leading one of 2^(Int - 1), exponent field 126 + Int, is on top. A subnormal number is
  // shifted out like all that is far below the last bit, so its missing hidden one need not be
  // looked at.
  assign shift = 8'(126 + Int) - field;
  assign fixed = {1'b1, mag_i[22:0], {Width - 24{1'b0}}} >> shift;

  assign int_o  = fixed[Width-1:Frac];
  assign frac_o = fixed[Frac-1:0];

endmodule
