#include "sim/units/unit_configs.hpp"

namespace mantissa {

MacConfig fp8_mac_config(const UnitParameters& parameters) {
  return {parameters.format("A"), parameters.format("B"), parameters.format("Acc"),
          parameters.rounding("AccRound")};
}

MacConfig fp8_pe_config(const UnitParameters& parameters) {
  return {parameters.format("A"), parameters.format("B"), parameters.format("Acc")};
}

Conversion quantizer_conversion(const UnitParameters& parameters) {
  return {.to = parameters.format(""),
          .rounding = parameters.rounding("Round"),
          .overflow = parameters.at("Saturate") != 0 ? Overflow::saturate : Overflow::ieee};
}

Pruner stochastic_pruner_config(const UnitParameters& parameters) {
  return {.format = parameters.format(""), .random_bits = parameters.at("RndBits")};
}

Rounding weight_update_rounding(const UnitParameters& parameters) {
  const Rounding rounding = parameters.rounding("Round");
  return rounding.stochastic() ? Rounding::sr(13) : rounding;
}

std::variant<UnscaleByExponent, UnscaleByFactor> unscale_of(std::uint32_t port, bool by_factor) {
  if (by_factor) return UnscaleByFactor{fp32_value(port)};
  // Modulo 256: -k is a signed byte for every k of -127..128.
  return UnscaleByExponent{-static_cast<std::int8_t>(0U - port)};
}

SkipWindow skip_window_config(const UnitParameters& parameters) {
  return {.rows = parameters.at("Rows"),
          .window = parameters.at("Window"),
          .depth = parameters.at("Depth"),
          .port = parameters.at("Port")};
}

IntArray int_array_config(const UnitParameters& parameters) {
  return {.skip_window = skip_window_config(parameters),
          .cols = parameters.at("Cols"),
          .a_bits = parameters.at("ABits"),
          .b_bits = parameters.at("BBits"),
          .acc_bits = parameters.at("AccBits"),
          .pipe_latency = 1 + parameters.at("DrainStages")};
}

MacArray mac_array_config(const UnitParameters& parameters) {
  MacArray array{.skip_window = skip_window_config(parameters),
                 .cols = parameters.at("Cols"),
                 .a = parameters.format("A"),
                 .b = parameters.format("B"),
                 .accumulator = parameters.format("Acc"),
                 .drain = {.to = parameters.format("C")},
                 .pipe_latency = 1 + parameters.at("QuantStages")};
  array.drain.rounding = parameters.rounding("CRound", "CRndBits");
  array.drain.overflow = parameters.at("CSaturate") != 0 ? Overflow::saturate : Overflow::ieee;
  return array;
}

BlockArray block_array_config(const UnitParameters& parameters) {
  return {.skip_window = skip_window_config(parameters),
          .cols = parameters.at("Cols"),
          .a = parameters.format("A"),
          .b = parameters.format("B"),
          .accumulator = parameters.format("Acc"),
          .sum_rows = parameters.at("SumRows")};
}

IntBlockArray int_block_array_config(const UnitParameters& parameters) {
  return {.skip_window = skip_window_config(parameters),
          .cols = parameters.at("Cols"),
          .a_bits = parameters.at("ABits"),
          .b_bits = parameters.at("BBits"),
          .acc_bits = parameters.at("AccBits"),
          .sum_rows = parameters.at("SumRows")};
}

}  // namespace mantissa
