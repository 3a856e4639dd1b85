#include "sim/verify/units/unit_table.hpp"

#include <stdexcept>

#include "sim/support/user_text.hpp"

namespace mantissa::verify {

const std::vector<UnitKind>& unit_kinds() {
  static const std::vector<UnitKind> kinds = {
      lfsr_kind(),
      fp8_mul_kind(),
      fp8_mac_kind(),
      fp8_pe_kind(),
      fp32_add_kind(),
      fp32_mul_kind(),
      fp32_fma_kind(),
      fp32_div_kind(),
      quantizer_kind(),
      int_mac_kind(),
      gemmlowp_quantizer_kind(),
      stochastic_pruner_kind(),
      skip_window_kind(),
      lowering_unit_kind(),
      mac_array_kind(),
      int_array_kind(),
      block_array_kind(),
      int_block_array_kind(),
      range_bn_forward_kind(),
      range_bn_backward_kind(),
      norm_statistics_kind(),
      rle_encoder_kind(),
      rle_decoder_kind(),
      zero_packer_kind(),
      zero_unpacker_kind(),
      double_sampler_kind(),
      weight_update_kind(),
  };
  return kinds;
}

const UnitKind& find_unit(std::string_view name) {
  std::string known;
  for (const UnitKind& kind : unit_kinds()) {
    if (kind.name == name) return kind;
    known += " " + kind.name;
  }
  throw std::invalid_argument("unknown unit " + in_quotes(name) + "; units are" + known);
}

}  // namespace mantissa::verify
