#include "sim/machine/update_machine.hpp"

#include <bit>
#include <stdexcept>

#include "sim/machine/job_clock.hpp"
#include "sim/machine/stream_controller.hpp"
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

class UpdateMachine::Machine : public sc_core::sc_module {
 public:
  Machine(const sc_core::sc_module_name& name, const Architecture& arch, Rounding rounding,
          const AcceleratorOptions& options)
      : sc_module(name),
        arch_(arch),
        rounding_(rounding),
        options_(options),
        units_(make_update_units(options.engine, rounding, arch.update_lanes, options.rtl_directory)),
        dram_("dram", arch, whole_cycle()),
        dma_("dma", arch, whole_cycle()),
        clock_("clock", units_) {
    dma_.socket.bind(dram_.socket);
  }

  UpdateRun run(const UpdateJob& job) {
    check_job(job, rounding_);
    finish_elaboration();
    UpdateLanes lanes(units_, job);
    StreamController controller(lanes, parts(), stream_of(job, arch_), inputs_of(job));
    if (clock_.run(controller)) return update_of(controller.result());
    LockstepDifference difference{.unit = units_.name() + ", lane " + std::to_string(units_.different_lane()),
                                  .mismatch = *clock_.difference(),
                                  .seed = job.draws.run_seed};
    if (!options_.wave.empty()) {
      record(job, difference.mismatch.cycle + cycles_past_difference);
      difference.wave = options_.wave;
    }
    throw LockstepError(std::move(difference));
  }

 private:
  using Clock = JobClock<UnitLanes, StreamController>;

  StreamParts parts() { return {arch_, dma_, dram_}; }
  static StreamInputs inputs_of(const UpdateJob& job) {
    return {packed(job.gradient, job.gradient_format.bits()), packed(job.weights, formats::fp16.bits()),
            packed(job.momentum, formats::fp32.bits())};
  }

  // The same job again, with a device that writes a waveform beside the RTL of the lane.
  void record(const UpdateJob& job, std::uint64_t cycles) {
    const UnitRecording recording(units_.lane(units_.different_lane()),
                                  compile_update_unit(rounding_, options_.rtl_directory, true).object,
                                  options_.wave);
    UpdateLanes lanes(units_, job);
    StreamController controller(lanes, parts(), stream_of(job, arch_), inputs_of(job));
    clock_.run(controller, cycles, Clock::Compare::no);
  }

  Architecture arch_;
  Rounding rounding_;
  AcceleratorOptions options_;
  UnitLanes units_;
  Dram dram_;
  QueueDma dma_;
  Clock clock_;
};

UpdateMachine::UpdateMachine(const Architecture& arch, Rounding rounding, const AcceleratorOptions& options)
    : machine_(std::make_unique<Machine>(sc_core::sc_gen_unique_name("update_machine"),
                                         checked(arch, rounding, options.engine), rounding, options)) {}

UpdateMachine::~UpdateMachine() = default;

UpdateRun UpdateMachine::run(const UpdateJob& job) { return machine_->run(job); }

}  // namespace mantissa
