// What the ports of skip_window hold.
#pragma once

#include "models/sparsity/skip_window_cycles.hpp"
#include "sim/dut/bits.hpp"

namespace mantissa {

// Bits that hold 0 .. count-1.
int index_bits(int count);
// Bits of count_i: a beat has up to `port` slices.
int slice_count_bits(const SkipWindow& array);

// Work as the outputs enable_o and word_o have it.
Bits enable_bits(const SkipWork& work);
Bits word_bits(const SkipWork& work, const SkipWindow& array);

}  // namespace mantissa
