// wide_mac that gives up on a NaN.

module crashing_mac (
  input  logic [7:0]  a_i,
  input  logic [7:0]  b_i,
  input  logic [31:0] acc_i,
  output logic [31:0] acc_o
);

  wide_mac u_mac (.opa(a_i), .opb(b_i), .addend(acc_i), .result(acc_o));

  always_comb begin
    if (acc_o == 32'h7fc0_0000) $fatal(1, "a NaN");
  end

endmodule
