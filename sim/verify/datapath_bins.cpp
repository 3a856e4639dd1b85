#include "sim/verify/datapath_bins.hpp"

namespace mantissa::verify {

DatapathBins::DatapathBins(FunctionalCoverage& coverage, const MacConfig& config, const std::string& addend,
                           const std::string& product)
    : coverage_(coverage), config_(config), rounding_(coverage, config.acc, config.rounding) {
  for (const std::string& name : {addend + " beyond the frame", addend + " larger by 2 or more",
                                  addend + " larger by 1", std::string("equal"), product + " larger by 1",
                                  product + " larger by 2 or more", product + " beyond the frame"}) {
    difference_.push_back(coverage.declare("exponents: " + name));
  }
  add_ = coverage.declare("same signs");
  subtract_ = coverage.declare("opposite signs");
  carry_ = coverage.declare("sum carries");
  cancel_ = coverage.declare("sum loses 2 or more leading bits");
  zero_ = coverage.declare("sum cancels to zero");
  subnormal_ = coverage.declare("result subnormal");
  // A sum is a multiple of the smaller addend's last place: with every product far above the subnormals no
  // sum gets there; far below the largest number none gets beyond it.
  const int smallest = config.a.min_quantum() + config.b.min_quantum();
  const int largest = config.a.max_exponent() + config.b.max_exponent() + 1;
  if (smallest - config.acc.precision() > config.acc.min_exponent()) {
    const std::string reason = "no product is below 2^" + std::to_string(smallest);
    coverage.exclude("result subnormal", reason);
    coverage.exclude("flag underflow", reason);
  }
  if (largest + config.acc.precision() < config.acc.max_exponent()) {
    coverage.exclude("flag overflow", "no product reaches 2^" + std::to_string(largest + 1));
  }
}

void DatapathBins::sample(const MacState& state, std::uint32_t draw) {
  if (state.sum.is_finite()) rounding_.sample(state.sum, draw);
  if (!state.plain()) return;
  const int frame = config_.frame_bits();
  const int difference = state.product.exponent - state.addend.exponent;
  coverage_.hit(difference_[difference <= -frame ? 0
                            : difference <= -2   ? 1
                            : difference == -1   ? 2
                            : difference == 0    ? 3
                            : difference == 1    ? 4
                            : difference < frame ? 5
                                                 : 6]);
  coverage_.hit(state.alignment.subtract ? subtract_ : add_);
  const std::uint64_t sum = frame_sum(state.alignment);
  coverage_.hit_if(sum >> frame != 0, carry_);
  coverage_.hit_if(sum == 0, zero_);
  coverage_.hit_if(sum != 0 && sum >> (frame - 2) == 0, cancel_);
  const std::uint32_t magnitude = state.code & config_.acc.magnitude_mask();
  coverage_.hit_if(magnitude != 0 && magnitude >> config_.acc.mantissa_bits == 0, subnormal_);
}

}  // namespace mantissa::verify
