// An oracle for GemmCycles: the machine of ARITHMETIC.md 7 as parts that act in every single cycle, and a
// bookkeeper who names each cycle by the rules. It shares no code with the closed form, and sees elements of
// A, not counts.
#pragma once

#include <string>
#include <vector>

#include "sim/arch/gemm_cycles.hpp"

namespace mantissa::test {

// One string of '0' and '1' per row of A.
GemmCycles walk_every_cycle(const Architecture& arch, const GemmShape& shape, bool skip,
                            const std::vector<std::string>& a_nonzero);

}  // namespace mantissa::test
