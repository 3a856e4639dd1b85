// A unit as `mantissa vectors` sees it: its fields, its interesting operands, its golden model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/format/round.hpp"
#include "sim/stimulus/values.hpp"

namespace mantissa::stimulus {

struct VectorField {
  std::string name;
  int bits;
  std::optional<Format> format = std::nullopt;  // of a floating-point code; none: a plain number
  std::string note = {};                        // completes "NAME are ..."; none: the name says it all

  static VectorField code(std::string name, const Format& format) {
    return {std::move(name), format.bits(), format};
  }
};

// An 8-bit field as a two's complement number.
constexpr int signed_byte(std::uint32_t field) { return static_cast<int>(field ^ 0x80U) - 0x80; }

struct VectorUnit {
  std::vector<VectorField> inputs;
  std::vector<VectorField> outputs;
  // Interesting values of each input; the corner vectors are their cross product, the last input fastest.
  std::vector<std::vector<std::uint32_t>> corners;
  // Fills the inputs of a random vector.
  std::function<void(Dice&, std::span<std::uint32_t>)> randomise;
  // The outputs for given inputs.
  std::function<std::vector<std::uint32_t>(std::span<const std::uint32_t>)> golden;

  void add_input(VectorField field, std::vector<std::uint32_t> interesting);
  // The R input, where the rounding takes one, always last.
  void add_random_input(Rounding rounding);
  // Result code and flags (v z o u x, v highest).
  void add_rounded_output(const Format& format);

  int word_bits() const;
  std::uint64_t corner_count() const;
  // Corner vector `index` of corner_count().
  std::vector<std::uint32_t> corner(std::uint64_t index) const;
  // For a run of unknown length: every other vector is a corner as long as there are any, in an order whose
  // beginnings are spread over all of them. Nothing: vector `index` is random.
  std::optional<std::vector<std::uint32_t>> corner_in_turn(std::uint64_t index) const;
};

using Parameters = std::map<std::string, std::string, std::less<>>;

// Throws std::invalid_argument where the parameter is not a whole number.
int int_parameter(const Parameters& parameters, std::string_view name);

// A unit before its parameters (formats, rounding) are chosen.
struct UnitKind {
  std::string name;
  std::string what;
  Parameters defaults;
  std::function<VectorUnit(const Parameters&)> build;

  // Throws std::invalid_argument for a parameter that the unit does not have, listing those it has.
  Parameters complete(const Parameters& given) const;
};

std::vector<UnitKind> arithmetic_units();  // lfsr, fp8_*, fp32_*, quantizer
std::vector<UnitKind> method_units();  // stochastic_pruner, gemmlowp_quantizer, double_sampler, weight_update
std::vector<UnitKind> vector_units();  // all of them

// Throws std::invalid_argument that lists the units.
UnitKind find_vector_unit(std::string_view name);

}  // namespace mantissa::stimulus
