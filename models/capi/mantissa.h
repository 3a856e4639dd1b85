/* The golden arithmetic for C and, over DPI-C, for SystemVerilog.
 *
 * Every function returns a status, 0 or more for success and -1 for an error that mantissa_last_error()
 * describes, and its results through pointers; after an error they are unchanged. All functions are pure and
 * may be called from any thread; the error text belongs to the calling thread.
 *
 * Codes are right-justified: an E5M2 number is the low 8 bits. A code or random number that does not fit its
 * format is an error. `flags` are the bits below and may be NULL. `r` is the random number of a stochastic
 * rounding, below 2^b for "sr:b"; other roundings ignore it.
 *
 * SystemVerilog:
 *   import "DPI-C" function int mantissa_format(input string name);
 *   import "DPI-C" function int mantissa_rounding(input string name);
 *   import "DPI-C" function int mantissa_mac(
 *       input int a_format, input int b_format, input int acc_format, input int rounding,
 *       input int unsigned a, input int unsigned b, input int unsigned acc, input int unsigned r,
 *       output int unsigned result, output int unsigned flags);
 */
#ifndef MANTISSA_H
#define MANTISSA_H

#if defined(__GNUC__)
#define MANTISSA_API __attribute__((visibility("default")))
#else
#define MANTISSA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MANTISSA_INEXACT = 1,
  MANTISSA_UNDERFLOW = 2,
  MANTISSA_OVERFLOW = 4,
  MANTISSA_DIVIDE_BY_ZERO = 8,
  MANTISSA_INVALID = 16
};

/* What a magnitude above the largest finite number becomes: `overflow` arguments. */
enum { MANTISSA_IEEE = 0, MANTISSA_SATURATE = 1 };

/* For example "0.2.0". */
MANTISSA_API const char* mantissa_version(void);
/* What was wrong with this thread's last failed call; "" before any. */
MANTISSA_API const char* mantissa_last_error(void);

/* A handle for "e5m2", "e4m3:ieee", "fp16", any eXmY. Handles need no release and may be kept. */
MANTISSA_API int mantissa_format(const char* name);
/* Width of its codes in bits. */
MANTISSA_API int mantissa_format_bits(int format);
/* A handle for a rounding mode of ARITHMETIC.md 2: "rne", "sr:8". */
MANTISSA_API int mantissa_rounding(const char* name);

/* A double rounded to a code, and a code's exact value. */
MANTISSA_API int mantissa_encode(int format, int rounding, int overflow, double value, unsigned int r,
                                 unsigned int* code, unsigned int* flags);
MANTISSA_API int mantissa_decode(int format, unsigned int code, double* value);

/* code * 2^scale from one format to another; scale -128..127. */
MANTISSA_API int mantissa_convert(int from_format, int to_format, int rounding, int overflow, int scale,
                                  unsigned int code, unsigned int r, unsigned int* result,
                                  unsigned int* flags);

/* acc + a*b with one rounding; a and b have at most 8 bits and a product that is exact in FP32. */
MANTISSA_API int mantissa_mac(int a_format, int b_format, int acc_format, int rounding, unsigned int a,
                              unsigned int b, unsigned int acc, unsigned int r, unsigned int* result,
                              unsigned int* flags);

/* a + b, a * b, a / b, a*b + c with one rounding to to_format; operands have formats of their own. */
MANTISSA_API int mantissa_add(int a_format, int b_format, int to_format, int rounding, int overflow,
                              unsigned int a, unsigned int b, unsigned int r, unsigned int* result,
                              unsigned int* flags);
MANTISSA_API int mantissa_mul(int a_format, int b_format, int to_format, int rounding, int overflow,
                              unsigned int a, unsigned int b, unsigned int r, unsigned int* result,
                              unsigned int* flags);
MANTISSA_API int mantissa_div(int a_format, int b_format, int to_format, int rounding, int overflow,
                              unsigned int a, unsigned int b, unsigned int r, unsigned int* result,
                              unsigned int* flags);
MANTISSA_API int mantissa_fma(int a_format, int b_format, int c_format, int to_format, int rounding,
                              int overflow, unsigned int a, unsigned int b, unsigned int c, unsigned int r,
                              unsigned int* result, unsigned int* flags);

/* The state after one draw (`leap` steps, 1..32) from a state that is not 0. */
MANTISSA_API int mantissa_lfsr_next(unsigned int state, int leap, unsigned int* next);
/* Draw n, from 0, of a generator that starts at `seed`: the state after (n+1)*leap steps. Any n costs the
 * same. */
MANTISSA_API int mantissa_lfsr_draw(unsigned int seed, int leap, long long n, unsigned int* state);
/* The seed of a lane of a stream of a run. */
MANTISSA_API int mantissa_lane_seed(long long run_seed, long long stream, long long lane, unsigned int* seed);

/* n values * 2^scale to codes. Element i takes draw i / lanes of lane i mod lanes of the stream; roundings
 * that are not stochastic ignore the last four arguments. `flags` gets those of all elements, ORed. */
MANTISSA_API int mantissa_quantize(int format, int rounding, int overflow, int scale, const float* values,
                                   unsigned int* codes, long long n, unsigned int* flags, long long run_seed,
                                   long long stream, int lanes, int leap);

/* The stochastic pruner: g, or sign(g)*tau, or +0. r is below 2^random_bits, tau finite and not negative.
 * `outcome` may be NULL: 0 g was zero, 1 kept, 2 snapped to tau, 3 made zero. */
MANTISSA_API int mantissa_prune(int format, int random_bits, unsigned int g, unsigned int tau, unsigned int r,
                                unsigned int* result, int* outcome);

#ifdef __cplusplus
}
#endif

#endif
