// Makes the SystemC units, one function each. A unit's class is in its source file: others know its ports.
#pragma once

#include <memory>

#include "sim/units/unit_parameters.hpp"

namespace mantissa {

class UnitModule;

// `name` is that of the module in SystemC's hierarchy.
using UnitMaker = std::unique_ptr<UnitModule>(const char* name, const UnitParameters& parameters);

UnitMaker make_block_array;  // operand_array.hpp has it for who watches it
UnitMaker make_double_sampler;
UnitMaker make_fp32_add;
UnitMaker make_fp32_div;
UnitMaker make_fp32_fma;
UnitMaker make_fp32_mul;
UnitMaker make_fp8_mac;
UnitMaker make_fp8_mul;
UnitMaker make_fp8_pe;
UnitMaker make_gemmlowp_quantizer;
UnitMaker make_int_array;        // array_unit.hpp has it and mac_array with options
UnitMaker make_int_block_array;  // as make_block_array
UnitMaker make_int_mac;
UnitMaker make_lfsr;
UnitMaker make_lowering_unit;
UnitMaker make_mac_array;
UnitMaker make_norm_statistics;
UnitMaker make_quantizer;
UnitMaker make_range_bn_backward;
UnitMaker make_range_bn_forward;
UnitMaker make_rle_decoder;
UnitMaker make_rle_encoder;
UnitMaker make_skip_window;
UnitMaker make_stochastic_pruner;
UnitMaker make_weight_update;
UnitMaker make_zero_packer;
UnitMaker make_zero_unpacker;

}  // namespace mantissa
