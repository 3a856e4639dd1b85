#include "sim/machine/norm_machine.hpp"

#include "sim/machine/job_clock.hpp"
#include "sim/machine/norm_controller.hpp"
#include "sim/machine/rtl_norm.hpp"

namespace mantissa {
namespace {

const Architecture& checked(const Architecture& arch, const NormSize& size, Engine engine) {
  check_machine(arch, engine);
  if (size.channels < 1 || size.elements < 2 || size.elements > max_gemm_size) {
    throw std::invalid_argument("batch norm units for " + std::to_string(size.channels) + " channels of " +
                                std::to_string(size.elements) + " elements: none, or too long");
  }
  return arch;
}

}  // namespace

class NormMachine::Machine : public sc_core::sc_module {
 public:
  Machine(const sc_core::sc_module_name& name, const Architecture& arch, const NormSize& size,
          const AcceleratorOptions& options)
      : sc_module(name),
        arch_(arch),
        options_(options),
        units_(arch, size, options.engine, options.rtl_directory),
        dram_("dram", arch, whole_cycle()),
        dma_("dma", whole_cycle()),
        clock_("clock", units_) {
    dma_.socket.bind(dram_.socket);
  }

  NormRun run(const NormJob& job) {
    finish_elaboration();
    NormController controller(units_, parts(), job);
    if (clock_.run(controller)) return controller.result();
    LockstepDifference difference{
        .unit = norm_unit_name(job.direction) + ", lane " + std::to_string(units_.different_lane()),
        .mismatch = *clock_.difference(),
        .seed = job.draws.run_seed};
    if (!options_.wave.empty()) {
      record(job, difference.mismatch.cycle + cycles_past_difference);
      difference.wave = options_.wave;
    }
    throw LockstepError(std::move(difference));
  }

 private:
  using Clock = JobClock<NormUnits, NormController>;

  NormMemoryParts parts() { return {arch_, dma_, dram_, a_, b_, results_}; }

  // The same job again, with a device that writes a waveform beside the RTL of the lane.
  void record(const NormJob& job, std::uint64_t cycles) {
    const CompiledDevice device =
        compile_norm_unit(job.direction, units_.index_bits(), options_.rtl_directory, true);
    const UnitRecording recording(units_.lane(units_.different_lane()), device.object, options_.wave);
    NormController controller(units_, parts(), job);
    clock_.run(controller, cycles, Clock::Compare::no);
  }

  Architecture arch_;
  AcceleratorOptions options_;
  NormUnits units_;
  Dram dram_;
  Dma dma_;
  SramBuffer a_;
  SramBuffer b_;
  SramBuffer results_;
  Clock clock_;
};

NormMachine::NormMachine(const Architecture& arch, const NormSize& size, const AcceleratorOptions& options)
    : machine_(std::make_unique<Machine>(sc_core::sc_gen_unique_name("norm_machine"),
                                         checked(arch, size, options.engine), size, options)) {}

NormMachine::~NormMachine() = default;

NormRun NormMachine::run(const NormJob& job) { return machine_->run(job); }

}  // namespace mantissa
