#include "sim/machine/accelerator.hpp"

#include "sim/machine/array_slot.hpp"
#include "sim/machine/gemm_controller.hpp"
#include "sim/machine/job_clock.hpp"

namespace mantissa {
namespace {

const Architecture& checked(const Architecture& arch, const ArrayFormats& formats, Engine engine) {
  check_machine(arch, engine);
  check_array(arch, formats);
  if (engine != Engine::systemc) check_rtl_array(arch, formats);
  return arch;
}

}  // namespace

class Accelerator::Machine : public sc_core::sc_module {
 public:
  Machine(const sc_core::sc_module_name& name, const Architecture& arch, const ArrayFormats& formats,
          const AcceleratorOptions& options)
      : sc_module(name),
        arch_(arch),
        formats_(formats),
        options_(options),
        array_(arch, formats, options.engine, options.rtl_directory),
        dram_("dram", arch, whole_cycle()),
        dma_("dma", whole_cycle()),
        clock_("clock", array_) {
    dma_.socket.bind(dram_.socket);
  }

  const Architecture& arch() const { return arch_; }
  const ArrayFormats& formats() const { return formats_; }

  ArrayRun run(const ArrayJob& job) {
    finish_elaboration();
    GemmController controller(parts(), job);
    if (clock_.run(controller, job.most_cycles)) return controller.result();
    if (!clock_.difference()) throw UnitFailure(not_finished(array_name(formats_), controller.cycles()));
    LockstepDifference difference{
        .unit = array_name(formats_), .mismatch = *clock_.difference(), .seed = job.draws.run_seed};
    if (!options_.wave.empty()) {
      record(job, difference.mismatch.cycle + cycles_past_difference);
      difference.wave = options_.wave;
    }
    throw LockstepError(std::move(difference));
  }

 private:
  using Clock = JobClock<ArraySlot, GemmController>;

  MachineParts parts() { return {arch_, formats_, array_, dma_, dram_, a_, b_, c_}; }

  // The same job again, with a device that writes a waveform beside the RTL.
  void record(const ArrayJob& job, std::uint64_t cycles) {
    const UnitRecording recording(
        array_.slot(), compile_array(arch_, formats_, options_.rtl_directory, true).object, options_.wave);
    GemmController controller(parts(), job);
    clock_.run(controller, cycles, Clock::Compare::no);
  }

  Architecture arch_;
  ArrayFormats formats_;
  AcceleratorOptions options_;
  ArraySlot array_;
  Dram dram_;
  Dma dma_;
  SramBuffer a_;
  SramBuffer b_;
  SramBuffer c_;
  Clock clock_;
};

Accelerator::Accelerator(const Architecture& arch, const ArrayFormats& formats,
                         const AcceleratorOptions& options)
    : machine_(std::make_unique<Machine>(sc_core::sc_gen_unique_name("accelerator"),
                                         checked(arch, formats, options.engine), formats, options)) {}

Accelerator::~Accelerator() = default;

const Architecture& Accelerator::architecture() const { return machine_->arch(); }
const ArrayFormats& Accelerator::formats() const { return machine_->formats(); }

ArrayRun Accelerator::run(const ArrayJob& job) { return machine_->run(job); }

}  // namespace mantissa
