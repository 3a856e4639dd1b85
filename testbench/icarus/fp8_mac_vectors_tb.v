// Plain Verilog bench for any simulator: reads the words that `mantissa vectors fp8_mac` wrote and checks a MAC with
// them. Macros: VECTORS and LOCALPARAMS are the two files. The device is the synthesised fp8_mac.

`timescale 1ns / 1ps

module fp8_mac_vectors_tb;

  `include `LOCALPARAMS

  reg  [Fp8MacWordWidth-1:0] words[0:Fp8MacCount-1];
  reg  [Fp8MacWordWidth-1:0] word;
  wire [31:0] acc;
  wire [4:0] flags;
  integer i;
  integer wrong;

  fp8_mac dut (
    .clk_i  (1'b0),
    .rst_ni (1'b1),
    .valid_i(1'b1),
    .ready_o(),
    .a_i    (word[Fp8MacAMsb:Fp8MacALsb]),
    .b_i    (word[Fp8MacBMsb:Fp8MacBLsb]),
    .acc_i  (word[Fp8MacAccMsb:Fp8MacAccLsb]),
    .rnd_i  (1'b0),
    .valid_o(),
    .ready_i(1'b1),
    .acc_o  (acc),
    .flags_o(flags),
    .tap_o  ()
  );

  initial begin
    $readmemh(`VECTORS, words);
    wrong = 0;
    for (i = 0; i < Fp8MacCount; i = i + 1) begin
      word = words[i];
      #1;
      if (acc !== word[Fp8MacResultMsb:Fp8MacResultLsb] || flags !== word[Fp8MacFlagsMsb:Fp8MacFlagsLsb]) begin
        if (wrong < 10)
          $display("vector %0d: a %h b %h acc %h: expected %h flags %b, got %h flags %b", i,
                   word[Fp8MacAMsb:Fp8MacALsb], word[Fp8MacBMsb:Fp8MacBLsb],
                   word[Fp8MacAccMsb:Fp8MacAccLsb], word[Fp8MacResultMsb:Fp8MacResultLsb],
                   word[Fp8MacFlagsMsb:Fp8MacFlagsLsb], acc, flags);
        wrong = wrong + 1;
      end
    end
    $display("%0d vectors, %0d wrong", Fp8MacCount, wrong);
    $finish;
  end

endmodule
