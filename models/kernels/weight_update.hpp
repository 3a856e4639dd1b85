// The fast master-weight update over tensors: the bits of models/update, vectorised and threaded.
#pragma once

#include <cstdint>
#include <span>

#include "models/update/weight_update.hpp"

namespace mantissa::kernels {

// Same contracts as mantissa::has_nonfinite(), mantissa::update_weights() and
// mantissa::update_weights_fp32().
bool has_nonfinite(std::span<const float> gradient, int threads = 1);

bool update_weights(std::span<std::uint16_t> weights, std::span<float> momentum,
                    std::span<const float> gradient, const WeightUpdateConfig& config,
                    const DrawSource& draws, int threads = 1);

bool update_weights_fp32(std::span<float> weights, std::span<float> momentum, std::span<const float> gradient,
                         const WeightUpdateConfig& config, int threads = 1);

}  // namespace mantissa::kernels
