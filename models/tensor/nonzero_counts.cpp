#include "models/tensor/nonzero_counts.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "models/parallel/parallel.hpp"

namespace mantissa {
namespace {

constexpr std::uint64_t every_byte(std::uint8_t byte) { return 0x0101010101010101U * byte; }

std::uint64_t codes_at(const std::uint8_t* first, std::int64_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, first, static_cast<std::size_t>(count));
  return word;
}

// 1 in each byte that has a bit of the mask: adding 7F carries into the top bit where any lower one is set.
std::uint64_t ones_where_nonzero(std::uint64_t word, std::uint64_t mask) {
  const std::uint64_t masked = word & mask;
  return ((((masked & every_byte(0x7F)) + every_byte(0x7F)) | masked) >> 7) & every_byte(0x01);
}
std::uint64_t sum_of_bytes(std::uint64_t word) { return (word * every_byte(0x01)) >> 56; }

// Eight codes at a time, by plain 64-bit arithmetic.
std::uint64_t nonzero_in(const std::uint8_t* codes, std::int64_t length, std::uint8_t mask) {
  constexpr std::int64_t most = std::int64_t{31} * 8;  // the sum of all bytes must fit one byte
  const std::uint64_t masks = every_byte(mask);
  if (length == 16) {  // nearly every window there is: worth being without loops
    return sum_of_bytes(ones_where_nonzero(codes_at(codes, 8), masks) +
                        ones_where_nonzero(codes_at(codes + 8, 8), masks));
  }
  std::uint64_t count = 0;
  std::int64_t i = 0;
  while (i + 8 <= length) {
    const std::int64_t end = std::min(length, i + most);
    std::uint64_t ones = 0;
    for (; i + 8 <= end; i += 8) ones += ones_where_nonzero(codes_at(codes + i, 8), masks);
    count += sum_of_bytes(ones);
  }
  if (i < length) count += sum_of_bytes(ones_where_nonzero(codes_at(codes + i, length - i), masks));
  return count;
}

std::uint64_t nonzero_in(const float* values, std::int64_t length) {
  std::uint32_t count = 0;
  for (std::int64_t i = 0; i < length; ++i) count += values[i] != 0 ? 1U : 0U;  // NaN is not equal to 0
  return count;
}

// count(first, length): of `length` elements from a row's window on.
template <class CountPart>
void append(std::size_t elements, std::int64_t rows, std::int64_t k, int window, int threads,
            std::vector<std::uint16_t>& counts, const CountPart& count) {
  if (rows < 0 || k < 1 || window < 1 || window > std::numeric_limits<std::uint16_t>::max() ||
      static_cast<unsigned __int128>(rows) * static_cast<unsigned __int128>(k) != elements) {
    throw std::invalid_argument("counting non-zeros of " + std::to_string(rows) + " x " + std::to_string(k) +
                                " in windows of " + std::to_string(window) + " does not fit " +
                                std::to_string(elements) + " elements");
  }
  const std::int64_t windows = (k + window - 1) / window;
  const std::size_t before = counts.size();
  counts.resize(before + static_cast<std::size_t>(rows * windows));
  std::uint16_t* out = counts.data() + before;
  // Less than this is not worth a thread.
  const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / k);
  parallel_ranges(rows, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t w = 0; w < windows; ++w) {
        const std::int64_t length = std::min<std::int64_t>(window, k - w * window);
        out[row * windows + w] = static_cast<std::uint16_t>(count(row * k + w * window, length));
      }
    }
  });
}

}  // namespace

std::uint8_t nonzero_mask(const Format& format) {
  if (format.bits() > 8) {
    throw std::invalid_argument("codes of " + format.name() + " do not fit 8 bits");
  }
  return static_cast<std::uint8_t>(format.has_negative_zero() ? format.magnitude_mask() : format.code_mask());
}

void append_nonzero_counts(std::span<const std::uint8_t> a, std::uint8_t mask, std::int64_t rows,
                           std::int64_t k, int window, int threads, std::vector<std::uint16_t>& counts) {
  append(a.size(), rows, k, window, threads, counts,
         [&](std::int64_t first, std::int64_t length) { return nonzero_in(a.data() + first, length, mask); });
}

void append_nonzero_counts(std::span<const float> a, std::int64_t rows, std::int64_t k, int window,
                           int threads, std::vector<std::uint16_t>& counts) {
  append(a.size(), rows, k, window, threads, counts,
         [&](std::int64_t first, std::int64_t length) { return nonzero_in(a.data() + first, length); });
}

void append_nonzero_counts(const EncodedTensor& a, std::int64_t rows, std::int64_t k, int window, int threads,
                           std::vector<std::uint16_t>& counts) {
  a.visit(Overloaded{[&](const EncodedTensor::Fp32& form) {
                       append_nonzero_counts(form.values.get(), rows, k, window, threads, counts);
                     },
                     [&](const EncodedTensor::Codes& form) {
                       std::vector<std::uint8_t> storage;
                       append_nonzero_counts(form.as_codes(storage, threads), nonzero_mask(form.format), rows,
                                             k, window, threads, counts);
                     },
                     [](const EncodedTensor::Integers&) {}});
}

std::vector<std::uint32_t> nonzero_per_run(const EncodedTensor& tensor, std::int64_t length, int threads) {
  std::vector<std::uint32_t> counts;
  tensor.visit(Overloaded{[](const EncodedTensor::Fp32&) {},
                          [&](const EncodedTensor::Codes& form) {
                            std::vector<std::uint8_t> storage;
                            const std::span<const std::uint8_t> codes = form.as_codes(storage, threads);
                            const std::uint8_t mask = nonzero_mask(form.format);
                            for (std::size_t first = 0; first < codes.size(); first += length) {
                              counts.push_back(
                                  static_cast<std::uint32_t>(nonzero_in(codes.data() + first, length, mask)));
                            }
                          },
                          [](const EncodedTensor::Integers&) {}});
  return counts;
}

namespace {

// nonzero(index): of the gradient's element.
template <class Nonzero>
void append_phase(const ConvShape& g, const PassPhase& phase, std::int64_t group, int window, int threads,
                  std::vector<std::uint16_t>& counts, const Nonzero& nonzero) {
  const std::int64_t windows = (g.out_group() * phase.taps_in_all() + window - 1) / window;
  const std::int64_t rows = g.batch * phase.rows_per_image();
  const std::size_t before = counts.size();
  counts.resize(before + static_cast<std::size_t>(rows * windows));
  std::uint16_t* const out = counts.data() + before;
  // Where output place i meets the gradient through a tap; -1: outside.
  const auto meets = [&](int side, std::int64_t place, std::int64_t tap) {
    const std::int64_t at =
        phase.first[side] + place * phase.stride[side] + g.padding[side] - tap * g.dilation[side];
    return at < 0 || at / g.stride[side] >= g.out[side] ? -1 : at / g.stride[side];
  };
  parallel_ranges(rows, 256, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t image = row / phase.rows_per_image();
      const std::int64_t line = row / phase.places[1] % phase.places[0];
      const std::int64_t place = row % phase.places[1];
      std::int64_t k = 0;
      for (std::int64_t channel = 0; channel < g.out_group(); ++channel) {
        const std::int64_t plane = (image * g.out_channels + group * g.out_group() + channel) * g.out[0];
        for (const std::int64_t tap_row : phase.taps[0]) {
          const std::int64_t at_row = meets(0, line, tap_row);
          for (const std::int64_t tap_col : phase.taps[1]) {
            const std::int64_t at = meets(1, place, tap_col);
            if (at_row >= 0 && at >= 0 && nonzero((plane + at_row) * g.out[1] + at))
              ++out[row * windows + k / window];
            ++k;
          }
        }
      }
    }
  });
}

}  // namespace

void append_phase_nonzero_counts(const EncodedTensor& first, const ConvShape& geometry,
                                 const PassPhase& phase, std::int64_t group, int window, int threads,
                                 std::vector<std::uint16_t>& counts) {
  first.visit(Overloaded{
      [&](const EncodedTensor::Fp32& form) {
        append_phase(geometry, phase, group, window, threads, counts,
                     [values = form.values.get()](std::int64_t i) { return values[i] != 0; });
      },
      [&](const EncodedTensor::Codes& form) {
        std::vector<std::uint8_t> storage;
        append_phase(geometry, phase, group, window, threads, counts,
                     [codes = form.as_codes(storage, threads),
                      mask = nonzero_mask(form.format)](std::int64_t i) { return (codes[i] & mask) != 0; });
      },
      [](const EncodedTensor::Integers&) {}});
}

}  // namespace mantissa
