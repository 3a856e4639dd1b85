// wide_mac under names that C++ does not allow, with an input that nothing drives.

module odd_ports_mac (
  input  logic [7:0]  op__a,
  input  logic [7:0]  \op.b ,
  input  logic [31:0] acc_i,
  input  logic        test_mode,
  output logic [31:0] acc_o
);

  logic [31:0] result;

  wide_mac u_mac (.opa(op__a), .opb(\op.b ), .addend(acc_i), .result(result));

  assign acc_o = test_mode ? 32'd0 : result;

endmodule
