// Example bench: fp8_mac with two pipeline stages against the golden model over DPI-C, operands from the unit's own
// random generator, results taken at random moments. +count=N transactions; ends with $fatal on the first difference.

module fp8_mac_dpi_tb;

  import mantissa_dpi::*;

  logic        clk = 1'b0;
  logic        rst_n = 1'b0;
  logic        valid_in, ready_in, valid_out, ready_out;
  logic [7:0]  a, b;
  logic [31:0] acc_in, acc_out;
  mantissa_pkg::flags_t flags;

  fp8_mac #(
    .AExp      (4),
    .AMan      (3),
    .ABias     (7),
    .ASpecials (mantissa_pkg::SpecialsFn),
    .PipeStages(2)
  ) u_dut (
    .clk_i  (clk),
    .rst_ni (rst_n),
    .valid_i(valid_in),
    .ready_o(ready_in),
    .a_i    (a),
    .b_i    (b),
    .acc_i  (acc_in),
    .rnd_i  (1'b0),
    .valid_o(valid_out),
    .ready_i(ready_out),
    .acc_o  (acc_out),
    .flags_o(flags),
    .tap_o  ()
  );

  always #5 clk = ~clk;

  // What was sent and not yet answered.
  typedef struct packed {
    logic [7:0]  a;
    logic [7:0]  b;
    logic [31:0] acc;
  } operands_t;
  operands_t sent[$];

  int unsigned state = 32'h1;
  int          e4m3, e5m2, fp32, rne;
  int          count = 10000;
  int          checked = 0;

  function automatic int unsigned draw();
    int unsigned next;
    if (mantissa_lfsr_next(state, 32, next) < 0) $fatal(1, "%s", mantissa_last_error());
    state = next;
    draw  = next;
  endfunction

  task automatic check(input operands_t operands);
    int unsigned want, want_flags;
    if (mantissa_mac(e4m3, e5m2, fp32, rne, 32'(operands.a), 32'(operands.b), operands.acc, 0, want, want_flags) < 0)
      $fatal(1, "%s", mantissa_last_error());
    if (acc_out !== want || 5'(flags) !== want_flags[4:0])
      $fatal(1, "%h * %h + %h: expected %h flags %b, got %h flags %b", operands.a, operands.b,
             operands.acc, want, want_flags[4:0], acc_out, flags);
    checked++;
  endtask

  initial begin
    void'($value$plusargs("count=%d", count));
    e4m3 = mantissa_format("e4m3");
    e5m2 = mantissa_format("e5m2");
    fp32 = mantissa_format("fp32");
    rne  = mantissa_rounding("rne");
    valid_in  = 1'b0;
    ready_out = 1'b0;
    repeat (2) @(negedge clk);
    rst_n = 1'b1;
    while (checked < count) begin
      @(negedge clk);
      // An operand that was not taken stays.
      if (!valid_in || ready_in_q) begin
        valid_in = draw() % 4 != 0;
        a        = 8'(draw());
        b        = 8'(draw());
        // Half of the accumulators lie where products do.
        acc_in   = draw();
        if (draw() % 2 == 0) acc_in[30:23] = 8'd100 + acc_in[27:23] % 8'd56;
      end
      ready_out = draw() % 4 != 0;
    end
    $display("%0d transactions, golden model %s: no difference", checked, mantissa_version());
    $finish;
  end

  // What happened at the last rising edge.
  logic ready_in_q = 1'b0;
  always @(posedge clk) begin
    ready_in_q <= ready_in;
    if (rst_n && valid_in && ready_in) sent.push_back({a, b, acc_in});
    if (rst_n && valid_out && ready_out) check(sent.pop_front());
  end

endmodule
