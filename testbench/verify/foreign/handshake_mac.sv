// wide_mac behind one register, with faults of the handshake by define.

module handshake_mac (
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

  logic        full_q;
  logic [9:0]  count_q;
  logic [31:0] result;
  logic        keep;

  wide_mac u_mac (.opa(a_i), .opb(b_i), .addend(acc_i), .result(result));

  assign ready_o = ready_i | ~full_q;

`ifdef WAITS_FOR_READY
  assign valid_o = full_q & ready_i;
`else
  assign valid_o = full_q;
`endif

`ifdef LOSES_ONE
  assign keep = (count_q != '1);
`else
  assign keep = 1'b1;
`endif

`ifdef CALLS_FINISH
  initial $finish;
`endif

`ifdef HAS_ASSERTION
  assert property (@(posedge clk_i) acc_i != 32'h7f80_0000);
`endif

`ifdef FORGETS_RESET
  always_ff @(posedge clk_i) begin
    if (ready_o) full_q <= valid_i & keep;
  end
`else
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      full_q <= 1'b0;
    else if (ready_o) full_q <= valid_i & keep;
  end
`endif

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      acc_o   <= '0;
    end else if (ready_o & valid_i) begin
      count_q <= count_q + 1'b1;
      acc_o   <= result;
    end
  end

endmodule
