// A MAC of E5M2 operands and an FP32 accumulator as somebody else might write it: no alignment and no
// normalisation shifter, but one wide fixed-point sum. Combinational. Unit of the sum: 2^-149.

module wide_mac #(
  parameter bit TiesAway = 1'b0  // wrong on purpose: ties go away from zero
) (
  input  logic [7:0]  opa,
  input  logic [7:0]  opb,
  input  logic [31:0] addend,
  output logic [31:0] result
);

  localparam int Width = 281;

  function automatic logic [Width-1:0] fixed8(input logic [7:0] code);
    // In units of 2^-16: the significand shifted by its exponent.
    if (code[6:2] == 0) fixed8 = Width'(code[1:0]);
    else fixed8 = Width'({1'b1, code[1:0]}) << (code[6:2] - 5'd1);
  endfunction

  logic             nan, inf_p, inf_c, neg_p, neg_c, neg;
  logic [Width-1:0] product, acc, sum;

  assign neg_p   = opa[7] ^ opb[7];
  assign neg_c   = addend[31];
  assign inf_p   = (opa[6:0] == 7'h7c) | (opb[6:0] == 7'h7c);
  assign inf_c   = addend[30:0] == 31'h7f80_0000;
  assign nan     = (opa[6:0] > 7'h7c) | (opb[6:0] > 7'h7c) | (addend[30:0] > 31'h7f80_0000) |
                   (inf_p & ((opa[6:0] == 0) | (opb[6:0] == 0))) | (inf_p & inf_c & (neg_p ^ neg_c));
  assign product = (fixed8(opa) * fixed8(opb)) << (149 - 32);
  assign acc     = (addend[30:23] == 0) ? Width'(addend[22:0])
                                        : Width'({1'b1, addend[22:0]}) << (addend[30:23] - 8'd1);

  always_comb begin
    if (neg_p == neg_c) begin
      sum = product + acc;
      neg = neg_p;
    end else if (product > acc) begin
      sum = product - acc;
      neg = neg_p;
    end else begin
      sum = acc - product;
      neg = (acc == product) ? 1'b0 : neg_c;
    end
  end

  always_comb begin
    logic [8:0]       lead;
    logic [Width-1:0] rest;
    logic [24:0]      kept;
    logic             up;
    lead = 0;
    for (int i = 0; i < Width; i++) if (sum[i]) lead = 9'(i);
    if (lead < 24) begin
      result = {neg, 8'(sum[23]), sum[22:0]};
    end else begin
      kept   = 25'(sum >> (lead - 9'd23));
      rest   = sum << (9'(Width - 1) - lead + 9'd24);
      up     = rest[Width-1] & ((rest[Width-2:0] != 0) | kept[0] | TiesAway);
      kept   = kept + 25'(up);
      lead   = lead - 9'd22 + 9'(kept[24]);
      result = (lead >= 255) ? {neg, 31'h7f80_0000} : {neg, lead[7:0], kept[24] ? 23'd0 : kept[22:0]};
    end
    if (inf_c) result = addend;
    if (inf_p) result = {neg_p, 31'h7f80_0000};
    if (nan) result = 32'h7fc0_0000;
  end

endmodule
