// wide_mac with three registers and no handshake at all.

module latency3_mac (
  input  logic        clk_i,
  input  logic [7:0]  a_i,
  input  logic [7:0]  b_i,
  input  logic [31:0] acc_i,
  output logic [31:0] acc_o
);

  logic [7:0]  a_q, b_q;
  logic [31:0] acc_q, result, result_q;

  wide_mac u_mac (.opa(a_q), .opb(b_q), .addend(acc_q), .result(result));

  always_ff @(posedge clk_i) begin
    a_q      <= a_i;
    b_q      <= b_i;
    acc_q    <= acc_i;
    result_q <= result;
    acc_o    <= result_q;
  end

endmodule
