// Takes one operation, or with TAKES_ALL any number, and never answers.

module silent_mac (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [7:0]  a_i,
  input  logic [7:0]  b_i,
  input  logic [31:0] acc_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] acc_o
);

  logic busy_q;

`ifdef TAKES_ALL
  assign ready_o = ~busy_q | valid_i;
`else
  assign ready_o = ~busy_q;
`endif
  assign valid_o = 1'b0;
  assign acc_o   = acc_i ^ {24'd0, a_i ^ b_i} ^ {31'd0, ready_i};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (valid_i) busy_q <= 1'b1;
  end

endmodule
