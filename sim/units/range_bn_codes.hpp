// What the mode and the kind of a result mean on the ports of range_bn_forward.
#pragma once

#include <cstdint>

namespace mantissa {

// mode_i: which passes a channel goes through.
enum class BnMode : std::uint8_t { statistics = 1, normalise = 2, both = 3 };
// mantissa_pkg::bn_kind_e: what a result is.
enum class BnKind : std::uint8_t { element = 0, indices = 1, saved = 2 };

}  // namespace mantissa
