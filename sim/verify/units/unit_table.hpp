// All units that `mantissa verify` knows, one function each.
#pragma once

#include <string_view>
#include <vector>

#include "sim/verify/unit_kind.hpp"

namespace mantissa::verify {

const std::vector<UnitKind>& unit_kinds();
// Throws std::invalid_argument that lists the units.
const UnitKind& find_unit(std::string_view name);

// One function per unit.
UnitKind lfsr_kind();
UnitKind fp8_mul_kind();
UnitKind fp8_mac_kind();
UnitKind fp8_pe_kind();
UnitKind fp32_add_kind();
UnitKind fp32_mul_kind();
UnitKind fp32_fma_kind();
UnitKind fp32_div_kind();
UnitKind quantizer_kind();
UnitKind int_mac_kind();
UnitKind gemmlowp_quantizer_kind();
UnitKind stochastic_pruner_kind();
UnitKind skip_window_kind();
UnitKind lowering_unit_kind();
UnitKind mac_array_kind();
UnitKind int_array_kind();
UnitKind block_array_kind();
UnitKind int_block_array_kind();
UnitKind range_bn_forward_kind();
UnitKind range_bn_backward_kind();
UnitKind norm_statistics_kind();
UnitKind rle_encoder_kind();
UnitKind rle_decoder_kind();
UnitKind zero_packer_kind();
UnitKind zero_unpacker_kind();
UnitKind double_sampler_kind();
UnitKind weight_update_kind();

}  // namespace mantissa::verify
