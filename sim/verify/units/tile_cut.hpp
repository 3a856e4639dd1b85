// The tiles that drive an array of any kind: their shapes, and how they are cut into steps, windows and
// beats.
#pragma once

#include <cstdint>

#include "models/sparsity/skip_window.hpp"
#include "sim/stimulus/values.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa::verify {

inline UnitParameters array_size(int rows, int cols) { return {{"Rows", rows}, {"Cols", cols}}; }

class TileCut {
 public:
  struct Beat {
    int slices = 0;
    bool ends_step = false;
    bool ends_tile = false;
  };

  // Of any shape; tile number 0 of a run does not skip.
  TileCut(const SkipWindow& window, int cols, std::uint64_t number, stimulus::Dice& dice);
  // All rows and columns in use, in one step.
  void fill(int k);

  bool finished() const { return fed_ == k_; }
  Beat next();

  int rows;  // in use
  int cols;
  bool skip;
  std::uint64_t density;  // of non-zeros in A, in eighths

 private:
  SkipWindow window_;
  int array_cols_;
  int k_;
  int step_k_;
  int fed_ = 0;
};

}  // namespace mantissa::verify
