#include "sim/replay/size_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "sim/replay/step_plan.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::replay {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr double tera = 1e12;

// Bytes per element. Recorded tensors: as read, pruned, encoded, and as numbers again. Results: the sums,
// their numbers and codes, the FP64 reference and its copy, and both in the order of the tensor.
constexpr double operand_bytes = 16;
constexpr double result_bytes = 32;
// A lowered operand: as recorded and as encoded.
constexpr double lowered_bytes = 8;
// Counts of non-zero elements, of windows of one element in the worst case.
constexpr double count_bytes = 2;

struct Need {
  double bytes = 0;
  double multiplications = 0;
};

// Sizes as real numbers: products of those in a file may exceed 64 bits.
struct Sides {
  double m = 0;
  double n = 0;
  double k = 0;
};

Sides sides(const ConvShape& g, Pass pass) {
  const auto images = static_cast<double>(g.batch);
  const double in = images * static_cast<double>(g.in[0]) * static_cast<double>(g.in[1]);
  const double out = images * static_cast<double>(g.out[0]) * static_cast<double>(g.out[1]);
  const double taps = static_cast<double>(g.kernel[0]) * static_cast<double>(g.kernel[1]);
  const auto in_group = static_cast<double>(g.in_group());
  const auto out_group = static_cast<double>(g.out_group());
  switch (pass) {
    case Pass::forward:
      return {out, out_group, in_group * taps};
    case Pass::input_gradient:
      return {in, in_group, out_group * taps};
    case Pass::weight_gradient:
      return {out_group, in_group * taps, out};
    case Pass::update:
      break;
  }
  throw std::invalid_argument("the update multiplies nothing");
}

Need need_of(const ConvShape& geometry, Pass pass) {
  const Sides s = sides(geometry, pass);
  const auto groups = static_cast<double>(geometry.groups);
  // The other operand is lowered in parts, which are small beside this.
  const double whole = pass == Pass::weight_gradient ? s.m * s.k : s.k * s.n;
  return {.bytes = groups * (result_bytes * s.m * s.n + count_bytes * s.m * s.k) + lowered_bytes * whole,
          .multiplications = groups * s.m * s.n * s.k};
}

Need need_of(const trace::Trace& trace, std::uint32_t step, const trace::Layer& layer) {
  double elements = 0;
  for (int role = 0; role < role_count; ++role) {
    const trace::TensorInfo* tensor = trace.find(step, layer, static_cast<Role>(role));
    if (tensor != nullptr) elements += static_cast<double>(tensor->elements());
  }
  Need need{.bytes = operand_bytes * elements, .multiplications = 0};
  const bool backward = trace.find(step, layer, Role::grad_output) != nullptr;
  if (!multiplies(layer.kind)) {
    need.bytes += 2 * result_bytes * elements;
    return need;
  }
  const std::optional<ConvShape> geometry = geometry_of(trace, step, layer);
  if (!geometry) return need;
  double largest = 0;  // one pass after the other
  for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) {
    if (pass != Pass::forward && !backward) continue;
    if (pass == Pass::input_gradient && !layer.input_gradient) continue;
    const Need one = need_of(*geometry, pass);
    largest = std::max(largest, one.bytes);
    need.multiplications += one.multiplications;
  }
  need.bytes += largest;
  return need;
}

}  // namespace

double check_size(const trace::Trace& trace, std::span<const std::uint32_t> steps, const SizeLimits& limits) {
  double largest = 0;
  double multiplications = 0;
  for (const std::uint32_t step : steps) {
    for (const trace::Layer& layer : trace.layers()) {
      const Need need = need_of(trace, step, layer);
      largest = std::max(largest, need.bytes);
      multiplications += need.multiplications;
      if (need.bytes <= limits.memory_gib * gib && multiplications <= limits.tera_multiplications * tera)
        continue;
      const std::string where =
          fmt::format("{}: step {}, layer {}: ", trace.path().string(), step, in_quotes(layer.name, 200));
      if (need.bytes > limits.memory_gib * gib) {
        throw std::invalid_argument(
            fmt::format("{}a replay would take {:.4g} GiB of memory, more than {:.4g} GiB; --memory {:.0f} "
                        "allows it",
                        where, need.bytes / gib, limits.memory_gib, std::ceil(need.bytes / gib)));
      }
      throw std::invalid_argument(
          fmt::format("{}up to here a replay would take {:.4g} x 10^12 multiplications, more than {:.4g} x "
                      "10^12; --work with a larger number allows it",
                      where, multiplications / tera, limits.tera_multiplications));
    }
  }
  return largest;
}

}  // namespace mantissa::replay
