#include "sim/replay/simulated_update.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "models/kernels/gemmlowp.hpp"
#include "models/kernels/quantize.hpp"
#include "models/kernels/weight_update.hpp"
#include "models/quantize/quantizer.hpp"
#include "sim/replay/difference.hpp"
#include "sim/trace/widen.hpp"

namespace mantissa::replay {
namespace {

// By the golden kernels.
struct Golden {
  std::vector<std::uint16_t> weights;
  std::vector<float> momentum;
  std::vector<std::uint32_t> operand;
};

std::vector<std::uint32_t> operand_codes(const UpdatedOperand& operand, std::span<const float> weights) {
  const ElementType& type = operand.how.type;
  std::vector<std::uint32_t> codes(weights.size());
  if (type.is_fp32()) {
    std::transform(weights.begin(), weights.end(), codes.begin(), fp32_bits);
  } else if (type.is_code()) {
    std::vector<std::uint8_t> narrow(weights.size());
    kernels::quantize<std::uint8_t>(weights, operand.how.conversion(), operand.draws, narrow);
    std::copy(narrow.begin(), narrow.end(), codes.begin());
  } else {
    std::vector<std::uint16_t> integers(weights.size());
    kernels::gemmlowp_quantize(weights, operand.range, operand.how.rounding, operand.draws, integers);
    std::copy(integers.begin(), integers.end(), codes.begin());
  }
  return codes;
}

// A step with a gradient that is not finite changes nothing.
Golden golden(const UpdateJob& job) {
  Golden golden{{job.weights.begin(), job.weights.end()}, {job.momentum.begin(), job.momentum.end()}, {}};
  std::vector<float> gradient(job.gradient.size());
  dequantize<std::uint32_t>(job.gradient, {.to = job.gradient_format}, gradient);
  kernels::update_weights(golden.weights, golden.momentum, gradient, job.config, job.draws);
  if (!job.operand) return golden;
  std::vector<float> weights(golden.weights.size());
  trace::widen(trace::DType::f16, std::as_bytes(std::span(golden.weights)), weights);
  golden.operand = operand_codes(*job.operand, weights);
  return golden;
}

}  // namespace

SimulatedUpdate::SimulatedUpdate(const Architecture& arch, Rounding rounding, CheckOptions options)
    : arch_(arch),
      options_(std::move(options)),
      machine_(
          arch, rounding,
          {.engine = parse_engine(options_.engine), .rtl_directory = options_.rtl, .wave = options_.wave}) {}

void SimulatedUpdate::run(const UpdateValues& update, const std::string& what) {
  std::size_t parameters = update.gradient.size();
  if (options_.sample != 0) {
    const auto segment = static_cast<std::uint64_t>(stream_segment(arch_, update.job));
    parameters = std::min<std::uint64_t>(parameters, options_.sample * segment);
  }
  const std::vector<float> momentum(parameters);
  const std::span<const std::uint32_t> gradient = std::span(update.gradient).first(parameters);
  const Format& format = update.gradient_format;
  const UpdateJob job{
      .gradient = gradient,
      .gradient_format = format,
      .weights = std::span(update.weights).first(parameters),
      .momentum = momentum,
      .config = update.config,
      .draws = update.draws,
      .skip = std::any_of(gradient.begin(), gradient.end(),
                          [&](std::uint32_t code) { return format.is_nan(code) || format.is_inf(code); }),
      .operand = update.operand};
  const std::string place =
      fmt::format("{}, update, the first {} of {} parameters", what, parameters, update.gradient.size());
  try {
    const UpdateRun run = machine_.run(job);
    segments_run_ += run.cycles.steps;
    compare(job, run, place);
    StreamJob stream = update.job;
    stream.elements = static_cast<std::int64_t>(parameters);
    const GemmCycles expected = stream_cycles(arch_, stream);
    if (expected == run.cycles) return;
    throw Difference("MISMATCH between engine " + options_.engine + " and the closed form, " + place + "\n" +
                     cost_text(expected, run.cycles) + again(options_));
  } catch (const LockstepError& error) {
    throw Difference(lockstep_text(error.difference(), place, "pass") + again(options_));
  } catch (const UnitFailure& error) {
    differs(place, error.what());
  }
}

void SimulatedUpdate::differs(const std::string& place, const std::string& what) const {
  throw Difference("MISMATCH between engine " + options_.engine + " and the golden model, " + place + ": " +
                   what + "\n" + again(options_));
}

void SimulatedUpdate::compare(const UpdateJob& job, const UpdateRun& run, const std::string& place) const {
  const Golden expected = golden(job);
  const auto check = [&](std::size_t parameter, const char* name, std::uint32_t wanted,
                         std::uint32_t actual) {
    if (wanted == actual) return;
    differs(place, fmt::format("{} of parameter {} is {:x}, expected {:x}", name, parameter, actual, wanted));
  };
  for (std::size_t i = 0; i < expected.weights.size(); ++i) {
    check(i, "the weight", expected.weights[i], run.weights[i]);
    check(i, "the momentum", fp32_bits(expected.momentum[i]), fp32_bits(run.momentum[i]));
    if (job.operand) check(i, "the operand", expected.operand[i], run.operand[i]);
  }
}

}  // namespace mantissa::replay
