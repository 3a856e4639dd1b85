#include "models/mac/accumulator_preset.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

constexpr Format e8m13{8, 13, 127, Specials::ieee};

constexpr Accumulator aligned(const AlignedGroup& group, const Format& format) {
  return {.kind = Accumulator::Kind::aligned, .format = format, .aligned = group};
}

constexpr Accumulator chunks(int group, const AlignedGroup& inner, const Format& inner_format,
                             const Format& format, Accumulator::Order order) {
  return {.kind = Accumulator::Kind::chunk,
          .format = format,
          .group = group,
          .inner_format = inner_format,
          .inner = inner,
          .order = order};
}

constexpr auto ascending = Accumulator::Order::ascending;
constexpr auto pairs = Accumulator::Order::pairs;

const std::array presets{
    AccumulatorPreset{"hopper", "H100, H200: wgmma, FP8 into FP32", aligned({32, 13}, e8m13),
                      "20,000 of 20,000 published results of both devices, E4M3 and E5M2"},
    AccumulatorPreset{"hopper-128", "the same, added to FP32 after every 128 products",
                      chunks(128, {32, 13}, e8m13, formats::fp32, ascending),
                      "hopper, and the interval that DeepSeek-V3 reports to use"},
    AccumulatorPreset{"ada", "Ada, L40S: mma.sync k32, FP8 into FP32", aligned({16, 13}, e8m13),
                      "20,000 of 20,000 published results of both devices, E4M3 and E5M2"},
    AccumulatorPreset{"ada-f16", "Ada: mma.sync k32, FP8 into FP16", aligned({16, 13, true}, formats::fp16),
                      "10,000 of 10,000 published results"},
    AccumulatorPreset{
        "blackwell", "B200: tcgen05 kind::f8f6f4 into FP32", aligned({32, 25}, formats::fp32),
        "the model of MMA-Sim's authors, who report equal bits on a B200; no results of our own"},
    AccumulatorPreset{"mma-sm90", "H100, H200, B200: mma.sync k32, FP8 into FP16",
                      chunks(32, {16, 25, true}, formats::fp16, formats::fp16, pairs),
                      "30,000 of 30,000 published results"},
    AccumulatorPreset{"mma-sm100", "B200: mma.sync k32, FP8 into FP32",
                      chunks(32, {16, 25}, formats::fp32, formats::fp32, pairs),
                      "10,000 of 10,000 published results, which fix the outer addition; groups, bits and "
                      "order as in mma-sm90"},
};

}  // namespace

std::span<const AccumulatorPreset> accumulator_presets() { return presets; }

std::string accumulator_preset_names() {
  std::string names;
  for (const AccumulatorPreset& preset : presets) {
    if (!names.empty()) names += ", ";
    names += preset.name;
  }
  return names;
}

const AccumulatorPreset& accumulator_preset(std::string_view name) {
  for (const AccumulatorPreset& preset : presets) {
    if (preset.name == name) return preset;
  }
  throw std::invalid_argument("unknown accumulator preset '" + std::string(name) +
                              "'; allowed: " + accumulator_preset_names());
}

}  // namespace mantissa
