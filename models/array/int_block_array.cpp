#include "models/array/int_block_array.hpp"

namespace mantissa {
namespace {

const IntBlockArray& checked(const IntBlockArray& array) {
  array.check();
  return array;
}

}  // namespace

void IntBlockArray::check() const {
  int_array().check();
  check_sum_rows(sum_rows, rows());
}

IntBlockSums::IntBlockSums(const IntBlockArray& array)
    : TwoSets(checked(array).skip_window, array.cols), array_(array.int_array()) {}

// A zero of A adds nothing, whether it is left out or not.
SkipSchedule IntBlockSums::run(const IntBlockRun& run) {
  return add_run(
      run, [](std::uint16_t a) { return a == 0; },
      [this](std::uint16_t a, std::uint16_t b, bool /*absent*/, std::uint64_t& sum) {
        const WrappedSum next = int_array_step(array_, a, b, sum);
        sum = next.acc;
        return next.wrapped;
      });
}

}  // namespace mantissa
