#include "sim/trace/finite.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>

#include "models/format/convert.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/chunks.hpp"

namespace mantissa::trace {
namespace {

constexpr std::uint32_t exponent_mask = 0x7F800000;

std::uint64_t count_nonfinite(std::span<const float> values) {
  std::uint64_t count = 0;
  for (const float value : values) count += (fp32_bits(value) & exponent_mask) == exponent_mask ? 1 : 0;
  return count;
}

std::optional<NonFinite> nonfinite_of(const Safetensors& file, const TensorInfo& tensor) {
  std::optional<NonFinite> found;
  for_each_chunk(file, tensor, [&](std::uint64_t begin, std::span<const float> values) {
    const std::uint64_t count = count_nonfinite(values);
    if (count == 0) return;
    if (!found) {
      std::size_t i = 0;
      while (std::isfinite(values[i])) ++i;
      found = NonFinite{tensor.name, begin + i, values[i], 0};
    }
    found->count += count;
  });
  return found;
}

}  // namespace

std::vector<NonFinite> find_nonfinite(const Safetensors& file) {
  std::vector<NonFinite> all;
  for (const TensorInfo& tensor : file.tensors()) {
    if (auto found = nonfinite_of(file, tensor)) all.push_back(*std::move(found));
  }
  return all;
}

void check_finite(const Trace& trace) {
  for (const TensorInfo& tensor : trace.file().tensors()) {
    const auto found = nonfinite_of(trace.file(), tensor);
    if (!found) continue;
    throw std::invalid_argument(trace.path().string() + ": tensor " + in_quotes(tensor.name, 250) +
                                ": element " + std::to_string(found->first) + " is " +
                                (std::isnan(found->value) ? "NaN" : "infinite") + " (" +
                                std::to_string(found->count) + " of " + std::to_string(tensor.elements()) +
                                " are not finite); record a step that did not overflow");
  }
}

}  // namespace mantissa::trace
