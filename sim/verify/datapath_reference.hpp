// The golden side of a stateless unit with the multiply-add datapath: its bins, its taps, its inside view.
#pragma once

#include "sim/units/mac_tap.hpp"
#include "sim/verify/datapath_bins.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {

class DatapathReference : public VectorReference {
 public:
  // The unit's fields are two operands, the addend of one that multiplies, and the draw of one that rounds
  // stochastically. `input_of` as VectorReference has it, `addend` and `product` as DatapathBins.
  DatapathReference(stimulus::VectorUnit unit, std::vector<int> input_of, const MacDatapath& datapath,
                    const std::string& addend = "accumulator", const std::string& product = "product");

  void accept(const Transaction& inputs) override;
  std::vector<std::string> explain(const Transaction& cause) const override;
  TapLayout tap_layout() const override { return mac_tap_layout(datapath_); }

 protected:
  const MacConfig& config() const { return datapath_.config; }
  MacState state_of(const std::vector<std::uint32_t>& fields) const;

 private:
  std::uint32_t draw_of(const std::vector<std::uint32_t>& fields) const {
    return config().rounding.stochastic() ? fields[3] : 0;
  }

  MacDatapath datapath_;
  DatapathBins bins_;
};

}  // namespace mantissa::verify
