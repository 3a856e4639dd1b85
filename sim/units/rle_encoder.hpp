// rle_encoder in SystemC: the golden encoder, element by element, and a register behind it.
#pragma once

#include "models/compress/run_length.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

class RleEncoder : public ClockedUnit {
 public:
  RleEncoder(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"run", "value"}; }
  void corrupt(std::string_view stage) override;

 private:
  struct Result {
    std::optional<RunLengthEntry> entry;
    bool last = false;
  };
  // What the element on the inputs gives, and the encoder after it.
  std::optional<Result> push(RunLengthEncoder& encoder) const;
  RunLengthEncoder current() const;
  void evaluate() override;
  void advance() override;
  void reset() override;

  DataIn value_i_;
  DataIn threshold_i_;
  DataIn last_i_;
  DataOut run_o_;
  DataOut value_o_;
  DataOut entry_o_;
  DataOut last_o_;
  RunLengthEntry flip_;                      // bits that are wrong on purpose
  std::optional<RunLengthEncoder> encoder_;  // of the tensor that has begun
  ResultPipe<Result> pipe_;
};

}  // namespace mantissa
