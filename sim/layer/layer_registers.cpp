#include "sim/layer/layer_registers.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/quantize/quantizer.hpp"
#include "sim/support/json.hpp"
#include "sim/support/json_record.hpp"
#include "sim/support/json_text.hpp"

namespace mantissa {
namespace {

void parse_scales(const JsonRecord& record, const Json& json, LayerRegisters& registers) {
  if (!json.is_object()) record.fail("scales", json, "an object from role to exponent");
  for (const auto& [name, exponent] : json.items()) {
    const std::optional<Role> role = role_of(name);
    if (!role) record.fail("unknown role " + in_quotes(name) + " of a scale");
    registers.scale_of(*role) = static_cast<int>(
        record.number("scale of " + name, exponent, min_quantizer_scale, max_quantizer_scale));
  }
}

}  // namespace

void LayerRegisters::follow_loss_scale(int exponent) {
  if (tau) tau = std::ldexp(*tau, exponent);
  for (const Role role : {Role::grad_output, Role::grad_input, Role::grad_weight}) {
    if (std::optional<int>& of_role = scale_of(role))
      of_role = std::clamp(*of_role - exponent, min_quantizer_scale, max_quantizer_scale);
  }
}

OrderedJson registers_json(const LayerRegisters& registers) {
  OrderedJson json = OrderedJson::object();
  if (registers.tau) json["tau"] = *registers.tau;
  if (registers.error_format) json["error_format"] = registers.error_format->name();
  if (registers.target != 0) json["target"] = registers.target;
  if (registers.correction != 0) json["correction"] = registers.correction;
  for (int i = 0; i < role_count; ++i) {
    const auto role = static_cast<Role>(i);
    if (registers.scale_of(role))
      object_in(json, "scales")[std::string(name_of(role))] = *registers.scale_of(role);
  }
  return json;
}

LayerRegisters parse_registers(const Json& json, const std::string& where) {
  const JsonRecord record(json, where, {"tau", "error_format", "target", "correction", "scales"});
  LayerRegisters registers;
  if (const Json* tau = record.find("tau")) registers.tau = record.real("tau", *tau, 0);
  if (record.find("error_format") != nullptr) {
    try {
      registers.error_format = Format::parse(record.text("error_format"));
    } catch (const std::invalid_argument& error) {
      record.fail("error_format: " + std::string(error.what()));
    }
  }
  if (const Json* target = record.find("target")) registers.target = record.real("target", *target, 0, 1);
  if (const Json* correction = record.find("correction"))
    registers.correction = record.real("correction", *correction, -1, 1);
  if (const Json* scales = record.find("scales")) parse_scales(record, *scales, registers);
  return registers;
}

}  // namespace mantissa
