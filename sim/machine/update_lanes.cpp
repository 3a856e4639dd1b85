#include "sim/machine/update_lanes.hpp"

#include <utility>

#include "models/format/convert.hpp"
#include "sim/machine/rtl_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

// The ports of weight_update, in order.
struct Ports {
  enum Input { weight, momentum, gradient, learning_rate, mu, decay, unscale, random, skip };
  enum Output { next_weight, next_momentum, flags, nonfinite };
};

// By exponent: the loss scale is a power of two.
UnitParameters parameters_for(Rounding rounding) {
  UnitParameters parameters{{"UnscaleByFactor", 0}, {"PipeStages", update_latency}};
  parameters.set("Round", static_cast<int>(rounding.mode));
  return parameters;
}

RoundingDraws operand_draws(const UpdateJob& job) {
  if (!job.operand) return {Rounding::rne(), {}};
  return {job.operand->how.rounding, job.operand->draws};
}

}  // namespace

CompiledDevice compile_update_unit(Rounding rounding, const std::filesystem::path& rtl_directory, bool wave) {
  return compile_unit("weight_update", parameters_for(rounding), rtl_directory, wave);
}

UnitLanes::Kind update_units(Engine engine, Rounding rounding, const std::filesystem::path& rtl_directory) {
  UnitLanes::Kind kind{
      .name = "weight_update",
      .systemc = [rounding](const char* name) { return make_weight_update(name, parameters_for(rounding)); },
      .watched = {{Ports::next_momentum, "momentum"},
                  {Ports::next_weight, "weight"},
                  {Ports::flags, "flags"},
                  {Ports::nonfinite, "nonfinite"}}};
  if (engine != Engine::systemc) kind.rtl = compile_update_unit(rounding, rtl_directory).object;
  return kind;
}

UpdateLanes::UpdateLanes(UnitLanes& units, const UpdateJob& job)
    : UnitStreamLanes(units),
      job_(job),
      draws_(job.config.rounding, job.draws),
      operand_draws_(operand_draws(job)) {}

void UpdateLanes::write_registers(std::int64_t lane) {
  const auto unscale = std::get<UnscaleByExponent>(job_.config.unscale).exponent;
  write(lane, Ports::learning_rate, fp32_bits(job_.config.learning_rate));
  write(lane, Ports::mu, fp32_bits(job_.config.momentum));
  write(lane, Ports::decay, fp32_bits(job_.config.weight_decay));
  write(lane, Ports::unscale, static_cast<std::uint8_t>(unscale));
  write(lane, Ports::skip, job_.skip ? 1 : 0);
}

void UpdateLanes::feed(std::int64_t lane, std::int64_t element, std::span<const std::uint32_t> inputs) {
  if (element == lane) write_registers(lane);  // its first one
  write(lane, Ports::gradient, convert(inputs[0], {.from = job_.gradient_format}).code);
  write(lane, Ports::weight, inputs[1]);
  write(lane, Ports::momentum, inputs[2]);
  const std::uint32_t draw = draws_.next();
  const Rounding& rounding = job_.config.rounding;
  if (rounding.stochastic())
    write(lane, Ports::random, draw & ((std::uint32_t{1} << rounding.random_bits) - 1));
}

void UpdateLanes::result(std::int64_t lane, std::int64_t /*element*/, std::span<std::uint32_t> outputs) {
  const UnitSlot& unit = units().lane(lane);
  outputs[0] = static_cast<std::uint32_t>(unit.output(Ports::next_weight).value());
  outputs[1] = static_cast<std::uint32_t>(unit.output(Ports::next_momentum).value());
  if (job_.operand) outputs[2] = operand_of(outputs[0]);
}

std::uint32_t UpdateLanes::operand_of(std::uint32_t weight) {
  const std::uint32_t wide = convert(weight, {.from = formats::fp16}).code;
  const Encoding& how = job_.operand->how;
  const std::uint32_t draw = operand_draws_.next();
  if (how.type.is_fp32()) return wide;
  if (how.type.is_code()) return convert(wide, how.conversion(), draw).code;
  return gemmlowp_quantize(fp32_value(wide), job_.operand->range, how.rounding, draw).q;
}

}  // namespace mantissa
