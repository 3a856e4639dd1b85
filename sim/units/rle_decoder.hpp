// rle_decoder in SystemC: each entry through the golden decoder, its elements out one by one, and a register
// behind it.
#pragma once

#include "models/compress/run_length.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The bytes that the golden decoder reads.
std::vector<std::uint8_t> message_of(std::span<const RunLengthEntry> entries);

class RleDecoder : public ClockedUnit {
 public:
  RleDecoder(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"value", "error"}; }
  void corrupt(std::string_view stage) override;

 private:
  struct Result {
    std::uint32_t value = 0;
    bool last = false;
    bool error = false;
  };
  // An entry where the tensor stands, and the elements that it covers; none where it does not fit.
  struct Decoded {
    RunLengthEntry entry;
    std::size_t room = 0;
    std::vector<float> elements;
  };
  // What happens in this cycle if the entry on the inputs is valid.
  struct Step {
    std::optional<Result> result;
    bool done = false;  // with the entry, once the result is taken
  };
  void decode();
  Step step() const;
  void evaluate() override;
  void advance() override;
  void reset() override;

  int length_bits_;
  DataIn run_i_;
  DataIn value_i_;
  DataIn last_i_;
  DataIn length_i_;
  DataOut value_o_;
  DataOut last_o_;
  DataOut error_o_;
  Result flip_;  // bits that are wrong on purpose
  Decoded decoded_;
  std::size_t position_ = 0;  // of the next element in the tensor
  std::size_t given_ = 0;     // elements of this entry that are out
  bool swallow_ = false;      // the rest of a refused message
  ResultPipe<Result> pipe_;
};

}  // namespace mantissa
