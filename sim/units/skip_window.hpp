// skip_window in SystemC: beats in, one cycle of work of all rows out.
#pragma once

#include <optional>

#include "models/sparsity/skip_window_cycles.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

SkipWindow skip_window_config(const UnitParameters& parameters);
// Bits that hold 0 .. count-1.
int index_bits(int count);
// Bits of count_i: a beat has up to `port` slices.
int slice_count_bits(const SkipWindow& array);

// Work as the outputs enable_o and word_o have it.
Bits enable_bits(const SkipWork& work);
Bits word_bits(const SkipWork& work, const SkipWindow& array);

class SkipWindowUnit : public ClockedUnit {
 public:
  SkipWindowUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"stage", "select"}; }
  void corrupt(std::string_view stage) override;

 private:
  SkipBeat beat() const;
  bool stalled() const;
  bool takes_beat() const;
  void evaluate() override;
  void advance() override;
  void reset() override;

  SkipWindow array_;
  std::string corrupt_;
  DataIn nonzero_i_;
  DataIn count_i_;
  DataIn skip_i_;
  DataIn last_i_;
  DataOut stage_o_;
  DataOut enable_o_;
  DataOut word_o_;
  DataOut last_o_;
  SkipWindowCycles window_;
};

}  // namespace mantissa
