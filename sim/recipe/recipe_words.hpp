// The words of a recipe's file, for who reads one and who writes one.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sim/recipe/recipe.hpp"

namespace mantissa {

template <class Meaning>
using Word = std::pair<std::string_view, Meaning>;

inline constexpr std::array arithmetic_words = {Word<Arithmetic>{"fp32", Arithmetic::fp32},
                                                Word<Arithmetic>{"floating", Arithmetic::floating},
                                                Word<Arithmetic>{"gemmlowp", Arithmetic::gemmlowp}};
inline constexpr std::array via_words = {Word<bool>{"direct", false}, Word<bool>{"fp16", true}};
inline constexpr std::array overflow_words = {Word<Overflow>{"ieee", Overflow::ieee},
                                              Word<Overflow>{"saturate", Overflow::saturate}};
inline constexpr std::array scale_words = {Word<TensorFormat::Scale>{"fixed", TensorFormat::Scale::fixed},
                                           Word<TensorFormat::Scale>{"max", TensorFormat::Scale::max},
                                           Word<TensorFormat::Scale>{"centre", TensorFormat::Scale::centre}};
inline constexpr std::array loss_scale_words = {
    Word<LossScaleRule::Kind>{"none", LossScaleRule::Kind::none},
    Word<LossScaleRule::Kind>{"constant", LossScaleRule::Kind::constant},
    Word<LossScaleRule::Kind>{"dynamic", LossScaleRule::Kind::dynamic}};
inline constexpr std::array norm_words = {Word<NormRule::Kind>{"standard", NormRule::Kind::standard},
                                          Word<NormRule::Kind>{"range", NormRule::Kind::range}};
inline constexpr std::array precision_words = {Word<NormPrecision>{"fp32", NormPrecision::fp32},
                                               Word<NormPrecision>{"int8", NormPrecision::int8}};
inline constexpr std::array constant_words = {Word<RangeConstant>{"paper", RangeConstant::paper},
                                              Word<RangeConstant>{"reference", RangeConstant::reference}};
inline constexpr std::array threshold_words = {
    Word<PruningRule::Threshold>{"lognormal", PruningRule::Threshold::lognormal},
    Word<PruningRule::Threshold>{"quantile", PruningRule::Threshold::quantile}};

// The word for a meaning.
template <class Words, class Meaning>
constexpr std::string_view word_for(const Words& words, const Meaning& meaning) {
  for (const auto& [word, means] : words) {
    if (means == meaning) return word;
  }
  throw std::logic_error("a recipe with a meaning that has no word");
}

}  // namespace mantissa
