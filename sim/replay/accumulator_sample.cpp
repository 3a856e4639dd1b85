#include "sim/replay/accumulator_sample.hpp"

#include <algorithm>
#include <optional>

#include "models/kernels/gemm_float.hpp"
#include "sim/replay/accuracy.hpp"

namespace mantissa::replay {
namespace {

constexpr std::int64_t small_product = std::int64_t{1} << 24;  // multiplications
constexpr std::int64_t widest_stride = 17;
constexpr std::int64_t fewest_rows = 8;

// The values of codes, without their scale, as the array sums them; other forms have none.
std::vector<float> multiplied_numbers(const EncodedTensor& tensor, int threads) {
  std::vector<float> numbers;
  if (tensor.type().is_code()) {
    const std::span<const float> held = tensor.as<EncodedTensor::Codes>().as_values(numbers, threads);
    if (numbers.empty()) numbers.assign(held.begin(), held.end());
    return numbers;
  }
  numbers.resize(tensor.size());
  tensor.decode(numbers, threads);
  return numbers;
}

// Some rows of a matrix, one below the other.
template <class T>
std::vector<T> rows_of(std::span<const T> matrix, std::int64_t k, std::int64_t first, std::int64_t stride) {
  std::vector<T> rows;
  for (std::int64_t row = first; (row + 1) * k <= std::ssize(matrix); row += stride) {
    const auto begin = matrix.begin() + row * k;
    rows.insert(rows.end(), begin, begin + k);
  }
  return rows;
}

std::vector<float> numbers_of_rows(const EncodedTensor& a, std::int64_t k, std::int64_t first,
                                   std::int64_t stride, int threads) {
  const auto of = [&](const auto& elements) { return rows_of(elements.get(), k, first, stride); };
  return a.visit(Overloaded{[&](const EncodedTensor::Fp32& form) { return of(form.values); },
                            [&](const EncodedTensor::Codes& form) {
                              if (form.decoded) return of(form.values);
                              const std::vector<std::uint8_t> codes = of(form.codes);
                              return multiplied_numbers(EncodedTensor::codes(codes, form.format, form.scale),
                                                        threads);
                            },
                            [&](const EncodedTensor::Integers& form) {
                              const std::vector<std::uint16_t> q = of(form.q);
                              return multiplied_numbers(EncodedTensor::integers(q, form.range), threads);
                            }});
}

}  // namespace

AccumulatorSample::AccumulatorSample(const PassSides& sides, std::int64_t groups, int threads)
    : k_(sides.k), threads_(threads) {
  if (sides.m * sides.n * sides.k > small_product / groups)
    stride_ = std::clamp<std::int64_t>(sides.m / fewest_rows, 1, widest_stride);
}

void AccumulatorSample::multiply_with(const EncodedTensor& b) {
  b_ = multiplied_numbers(b, threads_);
  n_ = std::ssize(b_) / k_;
}

void AccumulatorSample::add(const EncodedTensor& a, std::int64_t first_row, std::span<const float> sums) {
  const std::int64_t first = (stride_ - first_row % stride_) % stride_;
  const std::vector<float> found = rows_of(sums, n_, first, stride_);
  if (found.empty()) return;
  const std::vector<float> rows = numbers_of_rows(a, k_, first, stride_, threads_);
  std::vector<double> exact(found.size());
  kernels::gemm_fp64({std::ssize(rows) / k_, n_, k_, rows, b_}, exact, threads_);
  sums_.insert(sums_.end(), found.begin(), found.end());
  exact_.insert(exact_.end(), exact.begin(), exact.end());
}

void AccumulatorSample::add(std::span<const double> reference, std::span<const float> sums) {
  sums_.insert(sums_.end(), sums.begin(), sums.end());
  exact_.insert(exact_.end(), reference.begin(), reference.end());
}

AccumulatorError AccumulatorSample::error() const {
  const Accuracy accuracy = measure_accuracy<double>(sums_, exact_, std::nullopt, threads_);
  return {.elements = accuracy.elements, .sqnr_db = accuracy.sqnr_db};
}

}  // namespace mantissa::replay
