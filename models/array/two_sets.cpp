#include "models/array/two_sets.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

std::string size_text(std::size_t rows, std::size_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

}  // namespace

void check_sum_rows(int sum_rows, int rows) {
  if (sum_rows >= 1 && sum_rows <= rows) return;
  throw std::invalid_argument(std::to_string(sum_rows) + " rows of sums in a cycle; allowed: 1 to " +
                              std::to_string(rows));
}

void check_sums_of_row(int row, std::size_t sums, int rows, int cols) {
  if (row >= 0 && row < rows && (sums == 0 || sums == static_cast<std::size_t>(cols))) return;
  throw std::invalid_argument(std::to_string(sums) + " sums for row " + std::to_string(row) +
                              " do not fit an array of " + size_text(rows, cols));
}

void check_run_masks(std::size_t used_rows, std::size_t enabled_cols, int rows, int cols) {
  if (used_rows == static_cast<std::size_t>(rows) && enabled_cols == static_cast<std::size_t>(cols)) return;
  throw std::invalid_argument("a run says of every row and column of the array whether it takes part: " +
                              size_text(rows, cols) + ", not " + size_text(used_rows, enabled_cols));
}

}  // namespace mantissa
