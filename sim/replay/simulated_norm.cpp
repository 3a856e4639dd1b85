#include "sim/replay/simulated_norm.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/dut/bits.hpp"
#include "sim/replay/difference.hpp"

namespace mantissa::replay {
namespace {

// The first and the last group, which may be partial, and others evenly between.
std::set<std::int64_t> sampled(std::int64_t groups, std::int64_t wanted) {
  std::set<std::int64_t> chosen = {0, groups - 1};
  for (std::int64_t i = 1; i < wanted; ++i) chosen.insert(i * groups / wanted);
  return chosen;
}

EncodedTensor first_elements(const EncodedTensor& tensor, std::size_t count,
                             std::vector<std::uint8_t>& storage) {
  return tensor.visit(Overloaded{
      [&](const EncodedTensor::Fp32& x) { return EncodedTensor::fp32(x.values.get().first(count)); },
      [&](const EncodedTensor::Codes& x) {
        return EncodedTensor::codes(x.as_codes(storage).first(count), x.format, x.scale);
      },
      [&](const EncodedTensor::Integers& x) {
        return EncodedTensor::integers(x.q.get().first(count), x.range);
      }});
}

std::string hex(float value) { return Bits(32, fp32_bits(value)).hex(); }

}  // namespace

SimulatedNorm::SimulatedNorm(const Architecture& arch, const NormSize& size, CheckOptions options)
    : arch_(arch),
      options_(std::move(options)),
      machine_(
          arch, size,
          {.engine = parse_engine(options_.engine), .rtl_directory = options_.rtl, .wave = options_.wave}) {
  if (!arch.in_blocks() || arch.norm_fusion != NormFusion::drain) return;
  const AcceleratorOptions unit{
      .engine = parse_engine(options_.engine), .rtl_directory = options_.rtl, .wave = options_.wave};
  stream_ = std::make_unique<NormStreamMachine>(arch, unit);
}

void SimulatedNorm::run(const NormPass& pass, const NormResult& result, const std::string& what) {
  const NormLayer& layer = *pass.layer;
  const RangeBnTensorConfig& config = layer.rule.range;
  NormJob job{.direction = pass.direction,
              .shape = layer.shape,
              .first_channel = 0,
              .channels = layer.shape.channels,
              .x = norm_stream(layer, *layer.x, Rounding::rne(), {}, 1),
              .gamma = result.saved->gamma,
              .beta = result.saved->beta,
              .config = config.channel,
              .precision = config.precision,
              .saved = result.saved->channels,
              .drain = pass.drain,
              .draws = pass.drain_draws};
  if (pass.direction == NormDirection::backward)
    job.g = norm_stream(layer, *pass.g, config.gradient_rounding, pass.gradient_draws, 1);
  if (pass.fused) run_stream(pass, result, job, what);
  if (config.channel.parts > 1) return;  // no unit sweeps a part of a channel; a note of the report says so
  const std::int64_t lanes = arch_.norm_lanes;
  const std::int64_t groups = (job.channels + lanes - 1) / lanes;
  const auto wanted = std::max<std::int64_t>(2, static_cast<std::int64_t>(options_.sample));
  if (options_.sample == 0 || wanted >= groups) {
    run_job(pass, result, job, what);
    return;
  }
  for (const std::int64_t group : sampled(groups, wanted)) {
    NormJob part = job;
    part.first_channel = group * lanes;
    part.channels = std::min(lanes, job.channels - part.first_channel);
    part.inv_range = result.saved->inv_range;
    run_job(pass, result, part, what);
  }
}

void SimulatedNorm::run_stream(const NormPass& pass, const NormResult& result, const NormJob& norm,
                               const std::string& what) {
  const bool backward = norm.direction == NormDirection::backward;
  NormStreamJob job{.direction = norm.direction,
                    .shape = norm.shape,
                    .x = norm.x,
                    .g = norm.g,
                    .gamma = norm.gamma,
                    .beta = norm.beta,
                    .saved = norm.saved,
                    .chunk_length = norm.elements() / norm.config.chunks,
                    .drain = norm.drain,
                    .draws = norm.draws,
                    .statistics_taken = pass.statistics_taken,
                    .parts = pass.layer->rule.parts};
  if (backward) job.corrections = result.gradients->corrections;
  std::vector<std::uint8_t> x_storage;
  std::vector<std::uint8_t> g_storage;
  if (options_.sample != 0 && job.shape.batch > 1 && job.shape.spatial > 1) {
    job.shape.batch = 1;
    const auto image = static_cast<std::size_t>(job.shape.channels * job.shape.spatial);
    job.x = first_elements(norm.x, image, x_storage);
    if (backward) job.g = first_elements(norm.g, image, g_storage);
  }
  const std::string place = what + (backward ? ", input gradient, second pass" : ", forward, second sweep");
  try {
    const NormStreamRun run = stream_->run(job);
    for (std::size_t i = 0; i < run.codes.size(); ++i) {
      const std::uint32_t expected = result.codes.empty() ? fp32_bits(result.values[i]) : result.codes[i];
      if (expected == run.codes[i]) continue;
      differs(place, "element " + std::to_string(i) + " is code " + std::to_string(run.codes[i]) +
                         ", expected " + std::to_string(expected));
    }
    const GemmCycles expected = stream_cycles(arch_, stream_of(arch_, job));
    if (expected == run.cycles) return;
    throw Difference("MISMATCH between engine " + options_.engine + " and the closed form, " + place + "\n" +
                     cost_text(expected, run.cycles) + again(options_));
  } catch (const LockstepError& error) {
    throw Difference(lockstep_text(error.difference(), place, "pass") + again(options_));
  } catch (const UnitFailure& error) {
    differs(place, error.what());
  }
}

void SimulatedNorm::run_job(const NormPass& pass, const NormResult& result, const NormJob& job,
                            const std::string& what) {
  const std::string place =
      what + (pass.direction == NormDirection::forward ? ", forward" : ", input gradient") + ", channels " +
      std::to_string(job.first_channel) + ".." + std::to_string(job.first_channel + job.channels - 1);
  try {
    const NormRun run = machine_.run(job);
    groups_run_ += run.cycles.tiles;
    compare(result, job, run, place);
  } catch (const LockstepError& error) {
    throw Difference(lockstep_text(error.difference(), place, "pass") + again(options_));
  } catch (const UnitFailure& error) {
    differs(place, error.what());
  }
}

void SimulatedNorm::differs(const std::string& place, const std::string& what) const {
  throw Difference("MISMATCH between engine " + options_.engine + " and the golden model, " + place + ": " +
                   what + "\n" + again(options_));
}

void SimulatedNorm::compare(const NormResult& result, const NormJob& job, const NormRun& run,
                            const std::string& place) const {
  const bool forward = job.direction == NormDirection::forward;
  for (std::int64_t i = 0; i < job.channels; ++i) {
    const std::int64_t channel = job.first_channel + i;
    const auto check = [&](const std::string& name, float expected, float actual) {
      if (fp32_bits(expected) == fp32_bits(actual)) return;
      differs(place, name + " of channel " + std::to_string(channel) + " is " + hex(actual) + ", expected " +
                         hex(expected));
    };
    if (forward) {
      const RangeBnSaved& expected = result.saved->channels[channel];
      check("mean", expected.mean, run.saved[i].mean);
      check("inv", expected.inv, run.saved[i].inv);
      if (expected.argmax != run.saved[i].argmax || expected.argmin != run.saved[i].argmin)
        differs(place, "the range of channel " + std::to_string(channel) + " ends at other elements");
    } else {
      check("dgamma", result.gradients->gamma[channel], run.gradients[i].gamma);
      check("dbeta", result.gradients->beta[channel], run.gradients[i].beta);
    }
    for (std::int64_t element = 0; element < job.elements(); ++element) {
      const std::int64_t at = job.place(channel, element);
      const std::uint32_t expected = result.codes.empty() ? fp32_bits(result.values[at]) : result.codes[at];
      const std::uint32_t actual = run.codes[i * job.elements() + element];
      if (expected == actual) continue;
      differs(place, "element " + std::to_string(element) + " of channel " + std::to_string(channel) +
                         " is code " + std::to_string(actual) + ", expected " + std::to_string(expected));
    }
  }
  const GemmCycles expected = norm_cycles(arch_, streams_of(job), job.direction);
  if (expected == run.cycles) return;
  throw Difference("MISMATCH between engine " + options_.engine + " and the closed form, " + place + "\n" +
                   cost_text(expected, run.cycles) + again(options_));
}

}  // namespace mantissa::replay
