// How fast the RTL alone simulates: no SystemC, no stalls, nothing compared.
#pragma once

#include "sim/units/rtl_module.hpp"
#include "sim/verify/reference.hpp"

namespace mantissa::verify {

// Operations per second on the busy stimulus of a reference that has not been used yet. Outside of a
// simulation only.
double rtl_speed(Reference& reference, RtlModule& rtl);

}  // namespace mantissa::verify
