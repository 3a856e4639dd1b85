#include "models/array/block_array.hpp"

#include <stdexcept>
#include <string>

#include "models/mac/accumulator.hpp"
#include "models/mac/fp8_mul.hpp"
#include "models/mac/fp8_pe.hpp"

namespace mantissa {
namespace {

const BlockArray& checked(const BlockArray& array) {
  array.check();
  return array;
}

}  // namespace

void BlockArray::check() const {
  skip_window.check();
  if (cols < 1) throw std::invalid_argument("an array has at least one column, not " + std::to_string(cols));
  check_sum_rows(sum_rows, rows());
  check_exact_product(a, b);
  Accumulator{.format = accumulator}.check();
}

BlockSums::BlockSums(const BlockArray& array)
    : TwoSets(checked(array).skip_window, array.cols), array_(array) {}

SkipSchedule BlockSums::run(const BlockRun& run) {
  const MacConfig mac{.a = array_.a, .b = array_.b, .acc = array_.accumulator};
  return add_run(
      run, [this](std::uint8_t a) { return array_.a.is_zero(a); },
      [&](std::uint8_t a, std::uint8_t b, bool absent, std::uint32_t& sum) {
        if (absent) return array_.b.is_inf(b) || array_.b.is_nan(b);
        sum = fp8_pe(a, b, sum, mac);
        return false;
      });
}

}  // namespace mantissa
