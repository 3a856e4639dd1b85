#include "models/compress/packed_line.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include "models/format/packed.hpp"

namespace mantissa {
namespace {

std::size_t mask_bytes(std::size_t n) { return (n + 7) / 8; }

void check(const LineCode& code) {
  if (code.bits >= 2 && code.bits <= 8) return;
  throw std::invalid_argument("codes of " + std::to_string(code.bits) +
                              " bits cannot be packed with a mask; allowed: 2 to 8 bits");
}

[[noreturn]] void refuse(const std::string& problem) {
  throw std::invalid_argument("not a packed line: " + problem);
}

}  // namespace

LineCode LineCode::of(const Format& format) {
  const LineCode code{format.bits(), format.has_negative_zero()};
  check(code);
  return code;
}

std::size_t packed_line_bytes(std::size_t n, std::size_t m, int bits) {
  return mask_bytes(n) + static_cast<std::size_t>(packed_bytes(static_cast<std::int64_t>(m), bits));
}

std::vector<std::uint8_t> pack_line(std::span<const std::uint8_t> codes, const LineCode& code) {
  check(code);
  std::vector<std::uint8_t> line(packed_line_bytes(codes.size(), codes.size(), code.bits));
  const std::span<std::uint8_t> stored = std::span(line).subspan(mask_bytes(codes.size()));
  std::size_t m = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] >> code.bits != 0) {
      throw std::invalid_argument("element " + std::to_string(i) + " is " + std::to_string(codes[i]) +
                                  ", which is no code of " + std::to_string(code.bits) + " bits");
    }
    if (code.is_zero(codes[i])) continue;
    set_packed_element(line, static_cast<std::int64_t>(i), 1, 1);
    set_packed_element(stored, static_cast<std::int64_t>(m++), code.bits, codes[i]);
  }
  line.resize(packed_line_bytes(codes.size(), m, code.bits));
  return line;
}

std::vector<std::uint8_t> unpack_line(std::span<const std::uint8_t> line, std::size_t n,
                                      const LineCode& code) {
  check(code);
  const std::string bytes = std::to_string(line.size()) + " bytes";
  if (line.size() < mask_bytes(n)) {
    refuse(bytes + " do not hold the mask of " + std::to_string(n) + " elements, which has " +
           std::to_string(mask_bytes(n)));
  }
  const std::span<const std::uint8_t> mask = line.first(mask_bytes(n));
  const std::span<const std::uint8_t> stored = line.subspan(mask_bytes(n));
  if (n % 8 != 0 && mask.back() >> (n % 8) != 0) {
    refuse("the mask has a bit beyond its " + std::to_string(n) + " elements");
  }
  std::size_t m = 0;
  for (const std::uint8_t byte : mask) m += std::popcount(byte);
  if (line.size() != packed_line_bytes(n, m, code.bits)) {
    refuse(bytes + ", where " + std::to_string(m) + " non-zero codes of " + std::to_string(n) + " take " +
           std::to_string(packed_line_bytes(n, m, code.bits)));
  }
  if (m * code.bits % 8 != 0 && stored.back() >> (m * code.bits % 8) != 0) {
    refuse("a bit is set behind its last code");
  }
  std::vector<std::uint8_t> codes(n);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (packed_element(mask, static_cast<std::int64_t>(i), 1) == 0) continue;
    codes[i] = static_cast<std::uint8_t>(packed_element(stored, next++, code.bits));
    if (code.is_zero(codes[i])) refuse("element " + std::to_string(i) + " is a zero that the mask denies");
  }
  return codes;
}

}  // namespace mantissa
