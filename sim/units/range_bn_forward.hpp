// range_bn_forward in SystemC: collects a channel, asks the golden model for its statistics, and normalises
// the elements of the second pass one by one.
#pragma once

#include "models/norm/range_bn.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// mode_i: which passes a channel goes through.
enum class BnMode : std::uint8_t { statistics = 1, normalise = 2, both = 3 };
// mantissa_pkg::bn_kind_e: what a result is.
enum class BnKind : std::uint8_t { element = 0, indices = 1, saved = 2 };

class RangeBnForward : public ClockedUnit {
 public:
  RangeBnForward(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"indices", "statistics", "normalise"}; }
  void corrupt(std::string_view stage) override;

 private:
  struct Result {
    BnKind kind = BnKind::element;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool last = false;
  };
  enum class Phase : std::uint8_t { scan, statistics, normalise };

  bool asks(BnMode pass) const;
  float input(const DataIn& port) const;
  bool at_end() const;
  bool scanning() const { return phase_ == Phase::scan && asks(BnMode::statistics); }
  RangeBnRegisters registers() const;
  // The result that enters the pipeline in this cycle.
  std::optional<Result> offered() const;
  bool statistics_done() const { return phase_ == Phase::statistics && !indices_ && wait_ == 0; }
  void take();
  void evaluate() override;
  void advance() override;
  void reset() override;

  int index_bits_;
  DataIn x_i_;
  DataIn mode_i_;
  DataIn count_i_;
  DataIn chunk_length_i_;
  DataIn reciprocal_count_i_;
  DataIn reciprocal_chunks_i_;
  DataIn constant_i_;
  DataIn gamma_i_;
  DataIn beta_i_;
  DataIn mean_i_;
  DataIn inv_i_;
  DataOut kind_o_;
  DataOut first_o_;
  DataOut second_o_;
  DataOut last_o_;

  std::string corrupt_;
  Phase phase_ = Phase::scan;
  std::uint64_t index_ = 0;        // of the next element
  std::vector<float> channel_;     // what pass 1 has seen of it
  std::optional<Result> indices_;  // of a chunk that is complete
  int wait_ = 0;                   // cycles until the statistics are there
  RangeBnSaved saved_;
  ResultPipe<Result> pipe_;
};

}  // namespace mantissa
