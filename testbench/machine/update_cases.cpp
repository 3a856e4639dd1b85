#include "testbench/machine/update_cases.hpp"

#include <sstream>

#include "models/format/convert.hpp"
#include "models/quantize/quantizer.hpp"
#include "testbench/machine/one_of.hpp"

namespace mantissa::test {
namespace {

DrawSource draws_of(const UpdateCase& update, std::uint64_t stream) {
  return {.run_seed = update.run_seed, .stream = stream, .lanes = 5};
}
constexpr std::uint64_t update_stream_id = 31;
constexpr std::uint64_t operand_stream_id = 32;

std::vector<float> widened(const std::vector<std::uint16_t>& weights) {
  std::vector<float> values;
  values.reserve(weights.size());
  for (const std::uint16_t weight : weights)
    values.push_back(fp32_value(convert(weight, {.from = formats::fp16}).code));
  return values;
}

std::vector<std::uint32_t> operand_codes(const UpdateCase& update, const std::vector<float>& weights) {
  const Encoding& how = *update.operand;
  const DrawSource draws = draws_of(update, operand_stream_id);
  std::vector<std::uint32_t> codes(weights.size());
  if (how.type.is_integer()) {
    std::vector<std::uint16_t> integers(weights.size());
    gemmlowp_quantize(weights, update.range, how.rounding, draws, integers);
    codes.assign(integers.begin(), integers.end());
  } else {
    quantize<std::uint32_t>(weights, how.type.is_fp32() ? Conversion{} : how.conversion(), draws, codes);
  }
  return codes;
}

}  // namespace

UpdateJob UpdateCase::job() const {
  UpdateJob job{.gradient = gradient,
                .gradient_format = gradient_format,
                .weights = weights,
                .momentum = momentum,
                .config = config,
                .draws = draws_of(*this, update_stream_id)};
  for (const std::uint32_t code : gradient)
    job.skip = job.skip || gradient_format.is_nan(code) || gradient_format.is_inf(code);
  if (operand) job.operand = UpdatedOperand{*operand, range, draws_of(*this, operand_stream_id)};
  return job;
}

UpdateRun UpdateCase::expected(const Architecture& arch) const {
  UpdateRun run{.weights = weights, .momentum = momentum, .operand = {}, .cycles = {}};
  std::vector<float> values(gradient.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = fp32_value(convert(gradient[i], {.from = gradient_format}).code);
  update_weights(run.weights, run.momentum, values, config, draws_of(*this, update_stream_id));
  StreamJob stream{.elements = std::ssize(gradient),
                   .input_bits = {gradient_format.bits(), 16, 32},
                   .output_bits = {16, 32},
                   .lanes = arch.update_lanes,
                   .latency = 4};
  if (operand) {
    run.operand = operand_codes(*this, widened(run.weights));
    stream.output_bits.push_back(operand->type.bits());
  }
  run.cycles = stream_cycles(arch, stream);
  return run;
}

std::string UpdateCase::text() const {
  std::ostringstream text;
  text << gradient.size() << " parameters, gradient " << gradient_format.name() << ", weights "
       << config.rounding.name();
  if (operand) text << ", operand " << operand->type.name() << " " << operand->rounding.name();
  return text.str();
}

UpdateCase random_update(std::mt19937_64& engine, std::int64_t most_elements) {
  UpdateCase update;
  const std::size_t count = 1 + engine() % static_cast<std::uint64_t>(most_elements);
  update.gradient_format =
      one_of(engine, {formats::fp32, formats::e5m2, formats::e4m3, formats::fp16, Format::parse("e3m2")});
  const bool finite = engine() % 6 != 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Format& format = update.gradient_format;
    auto code = static_cast<std::uint32_t>(engine() >> (64 - format.bits()));
    while (finite && (format.is_nan(code) || format.is_inf(code)))
      code = static_cast<std::uint32_t>(engine() >> (64 - format.bits()));
    update.gradient.push_back(code);
  }
  std::normal_distribution<float> normal(0.0F, 0.5F);
  for (std::size_t i = 0; i < count; ++i) {
    update.weights.push_back(
        static_cast<std::uint16_t>(convert(fp32_bits(normal(engine)), {.to = formats::fp16}).code));
    update.momentum.push_back(engine() % 9 == 0 ? 0.0F : 0.1F * normal(engine));
  }
  update.config = {.learning_rate = one_of(engine, {0.1F, 0.003F, 1.0F}),
                   .momentum = one_of(engine, {0.9F, 0.0F}),
                   .weight_decay = one_of(engine, {5e-4F, 0.0F}),
                   .unscale = UnscaleByExponent{static_cast<int>(engine() % 30) - 4},
                   .rounding = one_of(engine, {Rounding::rne(), Rounding::sr(13), Rounding::rna()})};
  switch (engine() % 4) {
    case 0:
      break;
    case 1:
      update.operand = Encoding{.type = ElementType()};
      break;
    case 2:
      update.operand = Encoding{.type = one_of(engine, {formats::e5m2, formats::e4m3, Format::parse("e3m2")}),
                                .rounding = one_of(engine, {Rounding::rne(), Rounding::sr(16)}),
                                .scale = static_cast<int>(engine() % 5) - 2};
      break;
    default:
      update.operand = Encoding{.type = ElementType::integer(8),
                                .rounding = one_of(engine, {Rounding::rne(), Rounding::sr(16)})};
      update.range = GemmlowpRange::of(widened(update.weights), 8);
  }
  update.run_seed = engine();
  return update;
}

Architecture random_update_machine(std::mt19937_64& engine) {
  Architecture arch;
  arch.mapping = Mapping::automatic;
  arch.update_lanes = static_cast<int>(1 + engine() % 6);
  // Half of a buffer holds one element of all tensors per lane at least.
  const std::int64_t least = std::int64_t{20} * arch.update_lanes;
  arch.a_buffer_bytes = least + static_cast<std::int64_t>(engine() % (engine() % 2 == 0 ? 100 : 4000));
  arch.b_buffer_bytes = least + static_cast<std::int64_t>(engine() % (engine() % 2 == 0 ? 100 : 4000));
  arch.dram_latency_cycles = one_of<std::int64_t>(engine, {0, 1, 6, 40});
  arch.dram_burst_bytes = one_of<std::int64_t>(engine, {1, 4, 64});
  arch.dram_burst_cycles = one_of<std::int64_t>(engine, {1, 2, 8});
  arch.dram_outstanding = one_of(engine, {1, 2, 8});
  return arch;
}

std::string difference(const UpdateRun& expected, const UpdateRun& actual) {
  std::ostringstream text;
  if (actual.weights.size() != expected.weights.size() || actual.operand.size() != expected.operand.size())
    return "other numbers of elements";
  for (std::size_t i = 0; i < expected.weights.size(); ++i) {
    if (expected.weights[i] == actual.weights[i] &&
        fp32_bits(expected.momentum[i]) == fp32_bits(actual.momentum.at(i)) &&
        (expected.operand.empty() || expected.operand[i] == actual.operand[i])) {
      continue;
    }
    text << "parameter " << i << ": weight " << actual.weights[i] << ", expected " << expected.weights[i]
         << "; momentum " << actual.momentum[i] << ", expected " << expected.momentum[i];
    if (!expected.operand.empty())
      text << "; operand " << actual.operand[i] << ", expected " << expected.operand[i];
    return text.str();
  }
  if (!(expected.cycles == actual.cycles)) {
    text << "cost differs: " << actual.cycles.cycles() << " cycles, expected " << expected.cycles.cycles();
  }
  return text.str();
}

}  // namespace mantissa::test
