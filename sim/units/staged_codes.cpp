#include "sim/units/staged_codes.hpp"

#include <algorithm>

#include "models/kernels/mac_row.hpp"
#include "models/mac/fp8_pe.hpp"

namespace mantissa {

StagedCodes::StagedCodes(const MacConfig& mac, int rows, int cols, std::size_t words)
    : a_values_(mac.a),
      b_values_(mac.b),
      cols_(cols),
      a_(words * rows),
      b_(words * cols),
      values_(words * cols),
      rows_(rows),
      mac_(mac),
      fp32_sums_(mac.acc == formats::fp32) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    a_zero_[code] = mac.a.is_zero(code & mac.a.code_mask());
    const std::uint32_t b = code & mac.b.code_mask();
    b_special_[code] = mac.b.is_inf(b) || mac.b.is_nan(b);
  }
}

void StagedCodes::clear() {
  std::fill(a_.begin(), a_.end(), 0);
  std::fill(b_.begin(), b_.end(), 0);
  std::fill(values_.begin(), values_.end(), 0);
}

void StagedCodes::stage(int index, int word, const Bits& a, const Bits& b, std::span<std::uint8_t> nonzero) {
  const auto a_word = std::span(a_).subspan(static_cast<std::size_t>(word) * rows_, rows_);
  const int cols = static_cast<int>(cols_);
  a.fields(index * rows_ * mac_.a.bits(), mac_.a.bits(), a_word);
  b.fields(index * cols * mac_.b.bits(), mac_.b.bits(), std::span(b_).subspan(word * cols_, cols_));
  for (int row = 0; row < rows_; ++row) nonzero[row] = a_zero_[a_word[row]] ? 0 : 1;
  decode(word);
}

void StagedCodes::decode(int word) {
  if (!fp32_sums_) return;
  const std::uint8_t* b = b_.data() + word * cols_;
  float* values = values_.data() + word * cols_;
  for (std::size_t col = 0; col < cols_; ++col) values[col] = b_values_.value[b[col]];
}

bool StagedCodes::special(int word, std::span<const ColumnRange> cols) const {
  bool special = false;
  for (const ColumnRange& range : cols) {
    for (const std::uint8_t code : std::span(b_).subspan(word * cols_ + range.first, range.count))
      special = special || b_special_[code];
  }
  return special;
}

void StagedCodes::corrupt(int word) {
  std::uint8_t& code = b_[word * cols_];
  code = static_cast<std::uint8_t>(code ^ mac_.b.sign_bit());
  decode(word);
}

void StagedCodes::accumulate(int row, int word, std::span<const ColumnRange> cols,
                             std::span<std::uint32_t> sums) const {
  const std::uint8_t a = a_[static_cast<std::size_t>(word) * rows_ + row];
  for (const ColumnRange& range : cols) {
    const std::size_t first = word * cols_ + range.first;
    const auto mine = sums.subspan(range.first, range.count);
    if (fp32_sums_) {
      kernels::mac_row(a_values_.value[a], std::span(values_).subspan(first, range.count), mine);
    } else {
      for (int i = 0; i < range.count; ++i) mine[i] = fp8_pe(a, b_[first + i], mine[i], mac_);
    }
  }
}

}  // namespace mantissa
