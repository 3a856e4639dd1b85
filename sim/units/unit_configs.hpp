// What a unit's parameters mean to the golden model. The SystemC unit and the reference read them alike.
#pragma once

#include <variant>

#include "models/array/block_array.hpp"
#include "models/array/int_array.hpp"
#include "models/array/int_block_array.hpp"
#include "models/array/mac_array.hpp"
#include "models/format/convert.hpp"
#include "models/mac/fp8_mac.hpp"
#include "models/sparsity/pruner.hpp"
#include "models/update/weight_update.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

MacConfig fp8_mac_config(const UnitParameters& parameters);
MacConfig fp8_pe_config(const UnitParameters& parameters);
// The scale is a port.
Conversion quantizer_conversion(const UnitParameters& parameters);
// tau is a port. Only the order of the codes counts, so the format has the usual bias.
Pruner stochastic_pruner_config(const UnitParameters& parameters);
Rounding weight_update_rounding(const UnitParameters& parameters);
// What unscale_i of weight_update means: k as -127..128, or the factor.
std::variant<UnscaleByExponent, UnscaleByFactor> unscale_of(std::uint32_t port, bool by_factor);
SkipWindow skip_window_config(const UnitParameters& parameters);
IntArray int_array_config(const UnitParameters& parameters);
MacArray mac_array_config(const UnitParameters& parameters);
BlockArray block_array_config(const UnitParameters& parameters);
IntBlockArray int_block_array_config(const UnitParameters& parameters);

}  // namespace mantissa
