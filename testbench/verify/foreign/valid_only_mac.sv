// wide_mac as many pipelines are: valid runs along with the data, nobody can wait, reset is active high.

module valid_only_mac (
  input  logic        clk,
  input  logic        rst,
  input  logic        in_valid,
  input  logic [7:0]  a,
  input  logic [7:0]  b,
  input  logic [31:0] acc,
  output logic        out_valid,
  output logic [31:0] sum
);

  logic        valid_q;
  logic [7:0]  a_q, b_q;
  logic [31:0] acc_q, result;

  wide_mac u_mac (.opa(a_q), .opb(b_q), .addend(acc_q), .result(result));

  always_ff @(posedge clk or posedge rst) begin
    if (rst) begin
      valid_q   <= 1'b0;
      out_valid <= 1'b0;
    end else begin
      valid_q   <= in_valid;
      out_valid <= valid_q;
    end
  end

  always_ff @(posedge clk) begin
    if (in_valid) begin
      a_q   <= a;
      b_q   <= b;
      acc_q <= acc;
    end
    if (valid_q) sum <= result;
  end

endmodule
