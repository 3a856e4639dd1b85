// A stateless unit whose operands and golden model `mantissa vectors` knows already.
#pragma once

#include <vector>

#include "sim/stimulus/vector_unit.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/reference.hpp"

namespace mantissa::verify {

class VectorReference : public Reference {
 public:
  // `input_of[port]` is the field of the vector unit that the unit's input port takes, `output_of` likewise;
  // -1 is a port that does not matter and stays 0. Bins: class of every floating-point input, and of each
  // flag in `possible` where an output is called flags.
  VectorReference(stimulus::VectorUnit unit, std::vector<int> input_of, std::vector<int> output_of,
                  const Flags& possible = {
                      .invalid = true, .overflow = true, .underflow = true, .inexact = true});

  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override;
  std::uint64_t exhaustive_count() const override;
  Transaction exhaustive_stimulus(std::uint64_t index) override;
  void accept(const Transaction& inputs) override;
  std::vector<std::string> explain(const Transaction& cause) const override;
  std::string decimal(std::size_t output, const Bits& bits) const override;

 protected:
  std::vector<std::uint32_t> fields_of(const Transaction& inputs) const;
  const stimulus::VectorUnit& unit() const { return unit_; }
  // The bins of operands and flags.
  void sample_operands(const std::vector<std::uint32_t>& fields, const std::vector<std::uint32_t>& results);

 private:
  Transaction transaction(const std::vector<std::uint32_t>& fields) const;

  stimulus::VectorUnit unit_;
  std::vector<int> input_of_;
  std::vector<int> output_of_;
  std::vector<std::optional<OperandBins>> operand_bins_;
  std::optional<FlagBins> flag_bins_;
  int flags_output_ = -1;
};

// "1" for the code 3c of E5M2, "18" for 12 without a format; empty where it is too wide to be a number.
std::string decimal_of(const Bits& bits, const std::optional<Format>& format);
// "3c = 1" for a floating-point code, "12 = 18" for a number.
std::string described_value(const Bits& bits, const std::optional<Format>& format);

}  // namespace mantissa::verify
