// SPDX-License-Identifier: Apache-2.0
//
// What every element of an array of codes has (ARITHMETIC.md 4, 7): operand registers, fp8_mac's
// datapath, accumulator register. Part of fp8_pe and block_pe, which say what a sum starts from.
//
// acc_o' = start_i + a_i * b_i, rounded once to nearest, for operands taken in the cycle before;
// without them acc_o' = start_i. The loop from acc_o to start_i and back closes in one cycle.
// valid_i is a clock enable. valid_o says that acc_o has just taken a step.

module pe_datapath #(
  parameter  int unsigned AExp      = 5,
  parameter  int unsigned AMan      = 2,
  parameter  int unsigned ABias     = 15,
  parameter  int unsigned ASpecials = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned BExp      = 5,
  parameter  int unsigned BMan      = 2,
  parameter  int unsigned BBias     = 15,
  parameter  int unsigned BSpecials = mantissa_pkg::SpecialsIeee,
  parameter  int unsigned AccExp    = 8,
  parameter  int unsigned AccMan    = 23,
  localparam int unsigned AccW      = 1 + AccExp + AccMan,
  localparam int unsigned ExpW      = 9,
  localparam int unsigned ProdW     = AMan + BMan + 2,
  localparam int unsigned Frame     = ((AccMan + 1 > ProdW) ? AccMan + 1 : ProdW) + 3,
  localparam int unsigned TapW      = ProdW + 4 * Frame + 3 * ExpW + 4 + AccW
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  output logic               ready_o,  // always 1
  input  logic [AExp+AMan:0] a_i,
  input  logic [BExp+BMan:0] b_i,

  input  logic [AccW-1:0]    start_i,
  output logic               valid_o,
  output logic [AccW-1:0]    acc_o
);

  if (AExp + AMan > 7 || BExp + BMan > 7) begin : gen_bad_operands
    $error("pe_datapath: a and b have at most 8 bits");
  end

  // Every sum is a multiple of the smallest product's last place. Where that is a normal number of
  // the accumulator's format no sum is subnormal, and the loop does without the shifters for those.
  localparam int AccBias       = (32'd1 << (AccExp - 1)) - 1;
  localparam int ProductPlaces = ABias + AMan + BBias + BMan;  // the last is 2^(2 - ProductPlaces)
  localparam bit AccSubnormals = (2 - ProductPlaces < 1 - AccBias);

  logic [AExp+AMan:0] a_d, a_q;
  logic [BExp+BMan:0] b_d, b_q;
  logic               step_q;  // the operand registers hold a product that is not yet added
  logic               done_q;
  logic [AccW-1:0]    acc_d, acc_q;
  logic [AccW-1:0]    sum;
  logic               sum_valid;

  mantissa_pkg::flags_t unused_flags;
  logic [TapW-1:0]      unused_tap;

  fp_mac #(
    .AExp         (AExp),
    .AMan         (AMan),
    .ABias        (ABias),
    .ASpecials    (ASpecials),
    .BExp         (BExp),
    .BMan         (BMan),
    .BBias        (BBias),
    .BSpecials    (BSpecials),
    .AccExp       (AccExp),
    .AccMan       (AccMan),
    .ExpW         (ExpW),
    .AccSubnormals(AccSubnormals)
  ) u_mac (
    .clk_i,
    .rst_ni,
    .valid_i(step_q),
    .ready_o(ready_o),
    .a_i    (a_q),
    .b_i    (b_q),
    .acc_i  (start_i),
    .rnd_i  (1'b0),
    .valid_o(sum_valid),
    .ready_i(1'b1),
    .acc_o  (sum),
    .flags_o(unused_flags),
    .tap_o  (unused_tap)
  );

  always_comb begin
    a_d   = a_q;
    b_d   = b_q;
    acc_d = start_i;
    if (valid_i) begin
      a_d = a_i;
      b_d = b_i;
    end
    // Inside a GEMM a step that rounds to zero gives +0, so that a skipped zero changes no bit.
    if (sum_valid) acc_d = {sum[AccW-1] & (sum[AccW-2:0] != '0), sum[AccW-2:0]};
  end

  assign valid_o = done_q;
  assign acc_o   = acc_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_q    <= '0;
      b_q    <= '0;
      step_q <= 1'b0;
      done_q <= 1'b0;
      acc_q  <= '0;
    end else begin
      a_q    <= a_d;
      b_q    <= b_d;
      step_q <= valid_i;
      done_q <= sum_valid;
      acc_q  <= acc_d;
    end
  end

endmodule
