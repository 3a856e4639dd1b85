// A recipe: in which formats, with which methods, a network is trained. Every key of the YAML file is a
// member here; sim/configs/KEYS.md documents them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/accumulator.hpp"
#include "models/norm/range_bn_tensor.hpp"
#include "models/tensor/encode.hpp"
#include "models/update/loss_scale.hpp"

namespace mantissa {

// What the multipliers take: the word of the YAML file, which decides what the elements of tensors may be.
enum class Arithmetic : std::uint8_t {
  fp32,      // FP32 operands, fused into FP32: the baseline, golden model only
  floating,  // codes of up to 8 bits
  gemmlowp,  // unsigned integers of 8 or 16 bits between a minimum and a maximum
};

// The four classes of tensors that a recipe treats apart.
enum class TensorClass : std::uint8_t { weights, activations, errors, weight_gradients };
std::string_view name_of(TensorClass tensor_class);

// How a class of tensors is quantized.
struct TensorFormat {
  // Where the quantizer's power of two comes from.
  enum class Scale : std::uint8_t {
    fixed,   // scale_exponent
    max,     // the largest magnitude lands in the format's top binade
    centre,  // the mean of log2|x| lands at 0 (Chmiel et al. 2021)
  };
  ElementType type;  // FP32: nothing is quantized, and nothing below counts
  Rounding rounding = Rounding::rne();
  Overflow overflow = Overflow::ieee;
  bool via_fp16 = false;
  Scale scale = Scale::fixed;
  int scale_exponent = 0;
  bool exact_zero = false;  // integers: the range is moved until one of them stands for zero

  // With the exponent that the rule gave.
  Encoding encoding(int exponent) const {
    return {.type = type,
            .rounding = rounding,
            .overflow = overflow,
            .via_fp16 = via_fp16,
            .scale = exponent,
            .exact_zero = exact_zero};
  }
  bool stochastic() const { return !type.is_fp32() && rounding.stochastic(); }
};

struct LossScaleRule {
  enum class Kind : std::uint8_t { none, constant, dynamic };
  Kind kind = Kind::none;
  int exponent = 0;         // constant: the scale is 2^exponent; a replay of `dynamic` takes the initial one
  LossScaleConfig dynamic;  // of training
};

struct NormRule {
  enum class Kind : std::uint8_t { standard, range };
  Kind kind = Kind::standard;
  RangeBnTensorConfig range;  // of Range BN; its chunks are at most so many, its parts are those below
  std::int64_t parts = 1;     // of the sums over a channel, at most so many

  // For channels of n elements: as many chunks as divide n into chunks of at least two, then as many parts as
  // divide n and go with the chunks.
  NormRule fitting(std::int64_t n) const;
};

// Stochastic pruning of the errors (Chmiel et al. 2021).
struct PruningRule {
  // Where a layer's threshold comes from.
  enum class Threshold : std::uint8_t {
    lognormal,  // the fit of its gradient
    quantile,   // the magnitudes themselves
  };
  double sparsity = 0.85;  // target share of zeros per layer
  int random_bits = 16;
  double max_sparsity = 0.95;  // of layers that make up for others
  std::optional<double> min_cosine = std::nullopt;
  std::int64_t refresh_steps = 100;
  bool choose_format = false;  // 8-bit format per layer from sigma
  Threshold threshold = Threshold::lognormal;
  // In training: what the pruner's counters met since the last refresh corrects the next threshold.
  bool feedback = false;
};

struct MasterWeights {
  Format format = formats::fp32;  // fp32 or fp16
  Rounding rounding = Rounding::rne();
};

// Of a step's gradient: far above what any run that converges has.
inline constexpr double largest_clip_norm = 1e9;

// Deep gradient compression (Lin et al. 2018).
struct CompressionRule {
  double sparsity = 0.999;
  double momentum = 0.9;
  std::vector<double> warm_up;  // sparsity per epoch
  double sample = 0.01;         // share of a tensor that its first threshold is guessed from; 1 is exact
  bool factor_masking = true;   // the velocity of what was sent starts again from zero

  // Share that is sent in an epoch, counted from 0.
  double keep(std::int64_t epoch) const {
    const bool warm = epoch < static_cast<std::int64_t>(warm_up.size());
    return 1 - (warm ? warm_up[static_cast<std::size_t>(epoch)] : sparsity);
  }
};

// Double sampling of data (Zhang et al. 2017).
struct SamplingRule {
  int levels = 127;
  int random_bits = 16;
};

struct Recipe {
  std::string name = "fp8";
  std::string source;  // the paper, in one line
  Arithmetic arithmetic = Arithmetic::floating;
  TensorFormat weights;
  TensorFormat activations;
  TensorFormat errors;
  TensorFormat weight_gradients;
  // The copy of the error that the weight gradient uses (Banner et al. 2018: 16 bits); none: the same one.
  std::optional<TensorFormat> errors_for_weights;
  Accumulator accumulator;
  MasterWeights master_weights;
  LossScaleRule loss_scale;
  NormRule norm;
  bool exempt_first = false;  // first and last conv2d or linear layer in FP32
  bool exempt_last = false;
  std::optional<PruningRule> pruning;
  // Largest L2 norm of a step's gradient; a worker that compresses takes its share of it (ARITHMETIC.md 9).
  std::optional<double> clip_norm;
  std::optional<CompressionRule> compression;
  std::optional<SamplingRule> sampling;

  const TensorFormat& of(TensorClass tensor_class) const;
  // Results of GEMMs and batch norms leave through quantizers of codes; of other arithmetics they stay FP32.
  bool drains_codes() const { return errors.type.is_code(); }
  // Throws std::invalid_argument for what does not go together.
  void check() const;
};

}  // namespace mantissa
