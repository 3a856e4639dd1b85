// Machines with jobs for them, and what the golden models and the closed form say of a job.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/machine/array_job.hpp"

namespace mantissa::test {

// A job with its operands.
struct OwnedJob {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::vector<std::uint8_t> a = {};
  std::vector<std::uint8_t> b = {};
  // Of an array of integers: width, scale and minimum, and the elements.
  GemmlowpRange a_range = {.scale = 1};
  GemmlowpRange b_range = {.scale = 1};
  std::vector<std::uint16_t> a_integers = {};
  std::vector<std::uint16_t> b_integers = {};
  std::vector<float> bias = {};
  int c_scale = 0;
  bool skip = true;
  std::uint64_t run_seed = 1;
  std::int64_t first_tile = 0;
  int a_bits = 0;
  int b_bits = 0;
  int c_bits = 0;

  ArrayJob job(const Architecture& arch, const ArrayFormats& formats) const;
  std::string text() const;
};

// Codes of a format, a share of them not zero, Inf and NaN among them where it has `specials`.
std::vector<std::uint8_t> random_codes(std::mt19937_64& engine, const Format& format, std::int64_t count,
                                       double nonzero_share, bool specials);

// Integers of so many bits, the largest of them frequent.
std::vector<std::uint16_t> random_integer_elements(std::mt19937_64& engine, int bits, std::int64_t count,
                                                   double nonzero_share);

// Sizes up to `largest`, codes or integers of all kinds, any share of zeros in A.
OwnedJob random_job(std::mt19937_64& engine, const ArrayFormats& formats, int largest);

// Formats, buffers, ports, windows and DRAM of all kinds; rows and columns as given.
Architecture random_machine(std::mt19937_64& engine, int rows, int cols);
ArrayFormats random_formats(std::mt19937_64& engine);
ArrayFormats random_integers(std::mt19937_64& engine);

// Codes and flags from the golden array, tile by tile, or from the golden GEMM of integers; cycles in closed
// form.
ArrayRun golden_run(const Architecture& arch, const ArrayFormats& formats, const ArrayJob& job);

// Empty: equal. Otherwise the first thing that is not.
std::string difference(const ArrayRun& expected, const ArrayRun& actual);

}  // namespace mantissa::test
