// wide_mac behind a handshake with other port names and one register.

module vendor_mac #(
  parameter bit TiesAway = 1'b0
) (
  input  logic        clock,
  input  logic        resetn,
  input  logic        in_vld,
  output logic        in_rdy,
  input  logic [7:0]  x,
  input  logic [7:0]  y,
  input  logic [31:0] z,
  output logic        out_vld,
  input  logic        out_rdy,
  output logic [31:0] q
);

  logic [31:0] result;

  wide_mac #(.TiesAway(TiesAway)) u_mac (.opa(x), .opb(y), .addend(z), .result(result));

  assign in_rdy = out_rdy | ~out_vld;

  always_ff @(posedge clock or negedge resetn) begin
    if (!resetn) begin
      out_vld <= 1'b0;
      q       <= '0;
    end else if (in_rdy) begin
      out_vld <= in_vld;
      q       <= result;
    end
  end

endmodule
