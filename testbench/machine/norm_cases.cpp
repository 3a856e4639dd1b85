#include "testbench/machine/norm_cases.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "models/quantize/quantizer.hpp"
#include "testbench/machine/one_of.hpp"

namespace mantissa::test {
namespace {

constexpr std::uint64_t quantizer_stream = 11;

std::vector<float> random_values(std::mt19937_64& engine, std::int64_t count, bool specials) {
  std::normal_distribution<float> normal(0.5F, 2.0F);
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(engine);
    if (engine() % 7 == 0) value = std::round(value);  // ties
    if (specials && engine() % 50 == 0) {
      value = one_of(engine, {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                              -0.0F, 1e-40F});
    }
  }
  return values;
}

}  // namespace

std::string NormCase::text() const {
  constexpr const char* names[] = {"fp32", "codes", "16 bits", "8-bit mode"};
  std::ostringstream text;
  text << shape.batch << " x " << shape.channels << " x " << shape.spatial << " in " << config.channel.chunks
       << " chunks, " << names[static_cast<int>(storage)];
  if (storage == Storage::codes) text << " of " << format.name();
  if (drain) text << " to " << drain->to.name() << " " << drain->rounding.name();
  return text.str();
}

NormAnswer::NormAnswer(const NormCase& norm) : norm_(norm) {
  const DrawSource g_draws{.run_seed = norm.run_seed, .stream = quantizer_stream, .lanes = 16};
  x_ = store(norm.x, Rounding::rne(), {});
  g_ = store(norm.g, norm.config.gradient_rounding, g_draws);
  const bool eight = norm.storage == NormCase::Storage::eight_bit_mode;
  std::vector<float> y(norm.x.size());
  std::vector<float> dx(norm.x.size());
  saved_ =
      range_bn_tensor_forward(eight ? norm.x : x_.used, norm.shape, norm.gamma, norm.beta, norm.config, y);
  gradients_ = range_bn_tensor_backward(saved_, eight ? norm.g : g_.used, g_draws, dx);
  y_ = drained(y, NormDirection::forward);
  dx_ = drained(dx, NormDirection::backward);
}

NormAnswer::Tensor NormAnswer::store(const std::vector<float>& values, Rounding rounding,
                                     const DrawSource& draws) const {
  Tensor tensor{.used = values, .codes = {}, .integers = {}, .range = {}};
  switch (norm_.storage) {
    case NormCase::Storage::fp32:
      break;
    case NormCase::Storage::codes: {
      const Conversion how{.to = norm_.format, .overflow = Overflow::saturate, .scale = norm_.scale};
      tensor.codes.resize(values.size());
      quantize<std::uint8_t>(values, how, {}, tensor.codes);
      dequantize<std::uint8_t>(tensor.codes, how, tensor.used);
      break;
    }
    case NormCase::Storage::integers_16:
    case NormCase::Storage::eight_bit_mode: {
      const bool eight = norm_.storage == NormCase::Storage::eight_bit_mode;
      tensor.range = GemmlowpRange::of(values, eight ? 8 : 16);
      tensor.integers.resize(values.size());
      gemmlowp_quantize(values, tensor.range, rounding, draws, tensor.integers);
      gemmlowp_dequantize(tensor.integers, tensor.range, tensor.used);
      break;
    }
  }
  return tensor;
}

EncodedTensor NormAnswer::stored(const Tensor& tensor) const {
  if (norm_.storage == NormCase::Storage::fp32) return EncodedTensor::fp32(tensor.used);
  if (norm_.storage == NormCase::Storage::codes)
    return EncodedTensor::codes(tensor.codes, norm_.format, norm_.scale);
  return EncodedTensor::integers(tensor.integers, tensor.range);
}

DrawSource NormAnswer::drain_draws(NormDirection direction) const {
  return {.run_seed = norm_.run_seed,
          .stream = direction == NormDirection::forward ? std::uint64_t{21} : std::uint64_t{22},
          .lanes = 5};
}

std::vector<std::uint32_t> NormAnswer::drained(const std::vector<float>& values,
                                               NormDirection direction) const {
  std::vector<std::uint32_t> codes(values.size());
  quantize<std::uint32_t>(values, norm_.drain.value_or(Conversion{}), drain_draws(direction), codes);
  return codes;
}

NormJob NormAnswer::job(NormDirection direction) const {
  NormJob job{.direction = direction,
              .shape = norm_.shape,
              .first_channel = 0,
              .channels = norm_.shape.channels,
              .x = stored(x_),
              .gamma = saved_.gamma,
              .beta = saved_.beta,
              .config = norm_.config.channel,
              .precision = norm_.config.precision,
              .saved = saved_.channels,
              .drain = norm_.drain,
              .draws = drain_draws(direction)};
  if (direction == NormDirection::backward) job.g = stored(g_);
  return job;
}

NormStreamJob NormAnswer::second_pass(NormDirection direction) const {
  NormStreamJob stream{.direction = direction,
                       .shape = norm_.shape,
                       .x = stored(x_),
                       .gamma = saved_.gamma,
                       .saved = saved_.channels,
                       .drain = norm_.drain,
                       .draws = drain_draws(direction)};
  if (direction == NormDirection::forward) {
    stream.beta = saved_.beta;
  } else {
    stream.g = stored(g_);
    stream.corrections = gradients_.corrections;
    stream.chunk_length = norm_.shape.per_channel() / norm_.config.channel.chunks;
  }
  return stream;
}

NormJob NormAnswer::part(NormDirection direction, std::int64_t first_channel, std::int64_t channels) const {
  NormJob part = job(direction);
  part.first_channel = first_channel;
  part.channels = channels;
  part.inv_range = saved_.inv_range;
  return part;
}

NormRun NormAnswer::expected(const Architecture& arch, const NormJob& job) const {
  NormRun run;
  const bool forward = job.direction == NormDirection::forward;
  for (std::int64_t i = 0; i < job.channels; ++i) {
    const std::int64_t channel = job.first_channel + i;
    for (std::int64_t b = 0; b < norm_.shape.batch; ++b) {
      const auto plane =
          (forward ? y_ : dx_).begin() + (b * norm_.shape.channels + channel) * norm_.shape.spatial;
      run.codes.insert(run.codes.end(), plane, plane + norm_.shape.spatial);
    }
    if (forward) {
      run.saved.push_back(saved_.channels[channel]);
    } else {
      run.gradients.push_back({gradients_.gamma[channel], gradients_.beta[channel]});
    }
  }
  run.cycles = norm_cycles(arch, streams_of(job), job.direction);
  return run;
}

NormCase random_norm(std::mt19937_64& engine, std::int64_t most_channels, std::int64_t most_elements) {
  NormCase norm;
  const auto chunks = one_of<std::int64_t>(engine, {1, 1, 2, 4});
  norm.shape.channels = 1 + static_cast<std::int64_t>(engine() % most_channels);
  norm.shape.batch = 1 + static_cast<std::int64_t>(engine() % 4);
  norm.shape.spatial = 2 * chunks * (1 + static_cast<std::int64_t>(engine() % most_elements) / (2 * chunks));
  norm.config.channel.chunks = chunks;
  norm.config.channel.constant = one_of(engine, {RangeConstant::paper, RangeConstant::reference});
  norm.config.gradient_rounding = one_of(engine, {Rounding::sr(16), Rounding::rne()});
  norm.storage =
      one_of(engine, {NormCase::Storage::fp32, NormCase::Storage::codes, NormCase::Storage::integers_16,
                      NormCase::Storage::eight_bit_mode, NormCase::Storage::eight_bit_mode});
  if (norm.storage == NormCase::Storage::eight_bit_mode) norm.config.precision = NormPrecision::int8;
  norm.format = one_of(engine, {formats::e5m2, formats::e4m3, Format::parse("e3m2")});
  norm.scale = static_cast<int>(engine() % 5) - 2;
  norm.run_seed = engine();
  if (engine() % 2 == 0) {
    norm.drain = Conversion{.to = one_of(engine, {formats::e5m2, formats::fp16, Format::parse("e3m2")}),
                            .rounding = one_of(engine, {Rounding::sr(16), Rounding::rne()}),
                            .scale = static_cast<int>(engine() % 5) - 2};
  }
  const std::int64_t elements = norm.shape.batch * norm.shape.channels * norm.shape.spatial;
  const bool specials = engine() % 4 == 0;
  norm.x = random_values(engine, elements, specials);
  norm.g = random_values(engine, elements, specials);
  norm.gamma = random_values(engine, norm.shape.channels, false);
  norm.beta = random_values(engine, norm.shape.channels, false);
  return norm;
}

Architecture random_norm_machine(std::mt19937_64& engine, int lanes) {
  Architecture arch;
  arch.norm_lanes = lanes;
  // Half of a buffer holds one element of 32 bits per lane at least.
  const std::int64_t least = std::int64_t{8} * lanes;
  arch.a_buffer_bytes = least + static_cast<std::int64_t>(engine() % (engine() % 2 == 0 ? 40 : 1000));
  arch.b_buffer_bytes = least + static_cast<std::int64_t>(engine() % (engine() % 2 == 0 ? 40 : 1000));
  arch.dram_latency_cycles = one_of<std::int64_t>(engine, {0, 1, 6, 40});
  arch.dram_burst_bytes = one_of<std::int64_t>(engine, {1, 4, 64});
  arch.dram_burst_cycles = one_of<std::int64_t>(engine, {1, 2, 8});
  return arch;
}

Architecture random_stream_machine(std::mt19937_64& engine, int lanes) {
  Architecture arch = random_norm_machine(engine, lanes);
  arch.a_buffer_bytes += std::int64_t{8} * lanes;
  arch.dram_outstanding = static_cast<int>(1 + engine() % 4);
  return arch;
}

std::string difference(const NormRun& expected, const NormRun& actual) {
  std::ostringstream text;
  for (std::size_t i = 0; i < expected.codes.size(); ++i) {
    if (expected.codes[i] == actual.codes.at(i)) continue;
    text << "result " << i << " is " << actual.codes[i] << ", expected " << expected.codes[i];
    return text.str();
  }
  const auto same = [](float a, float b) { return fp32_bits(a) == fp32_bits(b); };
  for (std::size_t i = 0; i < expected.saved.size(); ++i) {
    const RangeBnSaved& want = expected.saved[i];
    const RangeBnSaved& got = actual.saved.at(i);
    if (same(want.mean, got.mean) && same(want.inv, got.inv) && want.argmax == got.argmax &&
        want.argmin == got.argmin) {
      continue;
    }
    text << "statistics of channel " << i;
    return text.str();
  }
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    if (same(expected.gradients[i].gamma, actual.gradients.at(i).gamma) &&
        same(expected.gradients[i].beta, actual.gradients.at(i).beta)) {
      continue;
    }
    text << "dgamma or dbeta of channel " << i;
    return text.str();
  }
  const auto line = [&](const char* what, std::uint64_t want, std::uint64_t got) {
    if (want != got) text << what << " " << got << ", expected " << want << "; ";
  };
  line("compute", expected.cycles.compute, actual.cycles.compute);
  line("load stalls", expected.cycles.stall_load, actual.cycles.stall_load);
  line("write-back stalls", expected.cycles.stall_write_back, actual.cycles.stall_write_back);
  line("DRAM bytes", expected.cycles.dram_bytes, actual.cycles.dram_bytes);
  line("SRAM bytes", expected.cycles.sram_bytes, actual.cycles.sram_bytes);
  if (!(expected.cycles == actual.cycles)) text << "cost differs";
  return text.str();
}

}  // namespace mantissa::test
