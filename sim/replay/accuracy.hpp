// How far results are from what they should be.
#pragma once

#include <optional>
#include <span>

#include "models/format/convert.hpp"
#include "models/tensor/encoded_tensor.hpp"
#include "sim/report/replay_report.hpp"

namespace mantissa::replay {

// The grid that a tensor's numbers lie on; none for integers, whose steps are not those of a format.
std::optional<Grid> grid_of(const EncodedTensor& tensor);

// Results against their reference, element by element; Reference is float or double. Without a grid max_ulp
// is NaN. Sums are taken in blocks and in order, so the figures do not depend on the number of threads.
template <class Reference>
Accuracy measure_accuracy(std::span<const float> results, std::span<const Reference> reference,
                          const std::optional<Grid>& grid, int threads);

// The counts of the quantizer that made the results.
void add_counts(Accuracy& accuracy, const ConversionCounts& counts);

}  // namespace mantissa::replay
