// A buffer on the chip: the bytes themselves, written by the DMA or the array, read by the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "models/format/packed.hpp"
#include "sim/machine/gemm_plan.hpp"

namespace mantissa {

class SramBuffer {
 public:
  void resize(std::int64_t bytes) { bytes_.assign(bytes, 0); }

  std::uint32_t element(const BufferPlace& place, std::int64_t index, int bits) const {
    return packed_element(std::span(bytes_).subspan(place.byte), place.element + index, bits);
  }
  void set_element(const BufferPlace& place, std::int64_t index, int bits, std::uint32_t value) {
    set_packed_element(std::span(bytes_).subspan(place.byte), place.element + index, bits, value);
  }
  // `count` packed elements from a transfer.
  void store(const BufferPlace& place, int bits, std::int64_t count, std::span<const std::uint8_t> packed) {
    if (bits % 8 == 0) {
      std::copy(packed.begin(), packed.end(), bytes_.begin() + place.byte + place.element * (bits / 8));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) set_element(place, i, bits, packed_element(packed, i, bits));
  }
  std::span<const std::uint8_t> bytes(std::int64_t first, std::int64_t count) const {
    return std::span(bytes_).subspan(first, count);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace mantissa
