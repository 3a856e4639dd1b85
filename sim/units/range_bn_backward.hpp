// range_bn_backward in SystemC: collects a channel, asks the golden model for its sums, and gives the
// gradients of the second pass one by one.
#pragma once

#include "models/norm/range_bn.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

class RangeBnBackward : public ClockedUnit {
 public:
  RangeBnBackward(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"sums", "dx"}; }
  void corrupt(std::string_view stage) override;

 private:
  struct Result {
    bool gradients = false;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool last = false;
  };
  // An element in the pipeline; one of pass 1 ends in the sums.
  struct Element {
    bool scan = false;
    Result result;
  };
  enum class Phase : std::uint8_t { scan, drain, steps, apply };

  float input(const DataIn& port) const;
  bool at_end() const;
  bool streaming() const { return phase_ == Phase::scan || phase_ == Phase::apply; }
  bool sums_done() const { return phase_ == Phase::steps && wait_ == 0; }
  // What the last stage of the pipeline does with its element.
  bool element_leaves(const std::optional<Element>& element) const;
  Element entering() const;
  void finish_pass_1();
  void evaluate() override;
  void advance() override;
  void reset() override;

  int index_bits_;
  DataIn x_i_;
  DataIn g_i_;
  DataIn argmax_i_;
  DataIn argmin_i_;
  DataIn count_i_;
  DataIn reciprocal_count_i_;
  DataIn reciprocal_chunks_i_;
  DataIn constant_i_;
  DataIn gamma_i_;
  DataIn mean_i_;
  DataIn inv_i_;
  DataOut gradients_o_;
  DataOut first_o_;
  DataOut second_o_;
  DataOut last_o_;

  std::string corrupt_;
  Phase phase_ = Phase::scan;
  std::uint64_t index_ = 0;  // of the next element
  std::vector<float> x_;     // what pass 1 has seen
  std::vector<float> g_;
  int wait_ = 0;  // cycles until mh and t are there
  GradientSums sums_;
  RangeBnCorrection correction_;
  ResultPipe<Element> elements_;
  ResultPipe<Result> results_;
};

}  // namespace mantissa
