#include "sim/machine/rtl_norm.hpp"

#include <algorithm>
#include <bit>

#include "sim/machine/rtl_unit.hpp"

namespace mantissa {
namespace {

constexpr int default_index_bits = 20;  // rtl/PORTS.md

}  // namespace

std::string norm_unit_name(NormDirection direction) {
  return direction == NormDirection::forward ? "range_bn_forward" : "range_bn_backward";
}

int norm_index_bits(const NormSize& size) {
  const auto needed = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size.elements)));
  return std::max(default_index_bits, needed);
}

CompiledDevice compile_norm_unit(NormDirection direction, int index_bits,
                                 const std::filesystem::path& rtl_directory, bool wave) {
  return compile_unit(norm_unit_name(direction), {{"IndexBits", index_bits}}, rtl_directory, wave);
}

}  // namespace mantissa
