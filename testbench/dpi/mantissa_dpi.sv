// The golden model in SystemVerilog: DPI-C imports of libmantissa.so (models/capi/mantissa.h says what each does). Link with -lmantissa.

package mantissa_dpi;

  // Overflow modes.
  localparam int Ieee     = 0;
  localparam int Saturate = 1;

  // Flags, in the order of flags_o.
  localparam int unsigned Invalid      = 16;
  localparam int unsigned DivideByZero = 8;
  localparam int unsigned Overflow     = 4;
  localparam int unsigned Underflow    = 2;
  localparam int unsigned Inexact      = 1;

  import "DPI-C" function string mantissa_version();
  import "DPI-C" function string mantissa_last_error();
  import "DPI-C" function int mantissa_format(input string name);
  import "DPI-C" function int mantissa_format_bits(input int format);
  import "DPI-C" function int mantissa_rounding(input string name);

  import "DPI-C" function int mantissa_encode(
    input int format, input int rounding, input int overflow, input real value, input int unsigned r,
    output int unsigned code, output int unsigned flags);
  import "DPI-C" function int mantissa_decode(
    input int format, input int unsigned code, output real value);
  import "DPI-C" function int mantissa_convert(
    input int from_format, input int to_format, input int rounding, input int overflow, input int scale,
    input int unsigned code, input int unsigned r, output int unsigned result,
    output int unsigned flags);
  import "DPI-C" function int mantissa_mac(
    input int a_format, input int b_format, input int acc_format, input int rounding,
    input int unsigned a, input int unsigned b, input int unsigned acc, input int unsigned r,
    output int unsigned result, output int unsigned flags);
  import "DPI-C" function int mantissa_add(
    input int a_format, input int b_format, input int to_format, input int rounding, input int overflow,
    input int unsigned a, input int unsigned b, input int unsigned r, output int unsigned result,
    output int unsigned flags);
  import "DPI-C" function int mantissa_mul(
    input int a_format, input int b_format, input int to_format, input int rounding, input int overflow,
    input int unsigned a, input int unsigned b, input int unsigned r, output int unsigned result,
    output int unsigned flags);
  import "DPI-C" function int mantissa_div(
    input int a_format, input int b_format, input int to_format, input int rounding, input int overflow,
    input int unsigned a, input int unsigned b, input int unsigned r, output int unsigned result,
    output int unsigned flags);
  import "DPI-C" function int mantissa_fma(
    input int a_format, input int b_format, input int c_format, input int to_format,
    input int rounding, input int overflow, input int unsigned a, input int unsigned b,
    input int unsigned c, input int unsigned r, output int unsigned result,
    output int unsigned flags);

  // mantissa_quantize takes C arrays. One element of it is mantissa_convert from FP32 with its scale, with r
  // from its lane: mantissa_lfsr_draw of mantissa_lane_seed.
  import "DPI-C" function int mantissa_lfsr_next(
    input int unsigned state, input int leap, output int unsigned next);
  import "DPI-C" function int mantissa_lfsr_draw(
    input int unsigned seed, input int leap, input longint n, output int unsigned state);
  import "DPI-C" function int mantissa_lane_seed(
    input longint run_seed, input longint stream, input longint lane, output int unsigned seed);

  import "DPI-C" function int mantissa_prune(
    input int format, input int random_bits, input int unsigned g, input int unsigned tau,
    input int unsigned r, output int unsigned result, output int outcome);

endpackage
