// Both operands in one unpacked array.

module unpacked_mac (
  input  logic [7:0]  operands [2],
  input  logic [31:0] acc_i,
  output logic [31:0] acc_o
);

  wide_mac u_mac (.opa(operands[0]), .opb(operands[1]), .addend(acc_i), .result(acc_o));

endmodule
