// Never comes back: from its initial block, or from the first evaluation with a certain seed.

module looping_lfsr (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] seed_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] rnd_o,
  output logic        zero_seed_o
);

  logic [31:0] turns;

`ifdef LOOPS_INITIALLY
  initial begin
    turns = 32'd1;
    while (turns != 32'd0) turns = turns + 32'd2;
  end
`else
  always_comb begin
    turns = 32'd1;
    while (valid_i && seed_i != 32'd0 && turns != 32'd0) turns = turns + 32'd2;
  end
`endif

  assign ready_o     = 1'b1;
  assign valid_o     = 1'b0;
  assign rnd_o       = turns;
  assign zero_seed_o = ready_i & clk_i & rst_ni;

endmodule
