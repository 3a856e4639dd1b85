#include "sim/machine/update_machine.hpp"

#include <bit>
#include <stdexcept>

#include "sim/machine/stream_bed.hpp"
#include "sim/machine/update_lanes.hpp"

namespace mantissa {
namespace {

const Architecture& checked(const Architecture& arch, Rounding rounding, Engine engine) {
  check_machine(arch, engine);
  if (arch.update_lanes < 1)
    throw std::invalid_argument("a machine that updates weights has update_lanes, 1 at least");
  WeightUpdateConfig{.rounding = rounding}.check();
  return arch;
}

void check_job(const UpdateJob& job, Rounding rounding) {
  job.config.check();
  check_update_sizes(job.weights.size(), job.momentum.size(), job.gradient.size());
  if (!(job.config.rounding == rounding)) {
    throw std::invalid_argument("the units round weights by " + rounding.name() + ", not by " +
                                job.config.rounding.name());
  }
  if (!std::holds_alternative<UnscaleByExponent>(job.config.unscale))
    throw std::invalid_argument("the units take the loss scale as an exponent, not as a factor");
}

template <class Element>
std::vector<std::uint8_t> packed(std::span<const Element> elements, int bits) {
  std::vector<std::uint8_t> bytes(packed_bytes(std::ssize(elements), bits));
  for (std::int64_t i = 0; i < std::ssize(elements); ++i) {
    std::uint32_t code = 0;
    if constexpr (std::is_same_v<Element, float>) {
      code = fp32_bits(elements[i]);
    } else {
      code = elements[i];
    }
    set_packed_element(bytes, i, bits, code);
  }
  return bytes;
}

StreamJob stream_of(const UpdateJob& job, const Architecture& arch) {
  std::optional<ElementType> operand;
  if (job.operand) operand = job.operand->how.type;
  return update_stream(std::ssize(job.weights), job.gradient_format, formats::fp16, operand,
                       arch.update_lanes);
}

UpdateRun update_of(const StreamRun& stream) {
  UpdateRun run{.weights = {stream.outputs[0].begin(), stream.outputs[0].end()},
                .momentum = {},
                .operand = {},
                .cycles = stream.cycles};
  for (const std::uint32_t bits : stream.outputs[1]) run.momentum.push_back(fp32_value(bits));
  if (stream.outputs.size() > 2) run.operand = stream.outputs[2];
  return run;
}

}  // namespace

class UpdateMachine::Machine {
 public:
  Machine(const Architecture& arch, Rounding rounding, const AcceleratorOptions& options)
      : rounding_(rounding),
        bed_(sc_core::sc_gen_unique_name("update_machine"), arch,
             update_units(options.engine, rounding, options.rtl_directory), arch.update_lanes, options,
             [=] { return compile_update_unit(rounding, options.rtl_directory, true); }) {}

  UpdateRun run(const UpdateJob& job) {
    check_job(job, rounding_);
    const StreamInputs inputs{packed(job.gradient, job.gradient_format.bits()),
                              packed(job.weights, formats::fp16.bits()),
                              packed(job.momentum, formats::fp32.bits())};
    const auto lanes = [&job](UnitLanes& units) { return std::make_unique<UpdateLanes>(units, job); };
    return update_of(bed_.run(lanes, stream_of(job, bed_.architecture()), inputs, job.draws.run_seed));
  }

 private:
  Rounding rounding_;
  StreamBed bed_;
};

UpdateMachine::UpdateMachine(const Architecture& arch, Rounding rounding, const AcceleratorOptions& options)
    : machine_(std::make_unique<Machine>(checked(arch, rounding, options.engine), rounding, options)) {}

UpdateMachine::~UpdateMachine() = default;

UpdateRun UpdateMachine::run(const UpdateJob& job) { return machine_->run(job); }

}  // namespace mantissa
