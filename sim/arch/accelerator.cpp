#include "sim/arch/accelerator.hpp"

#include <exception>
#include <optional>

#include "sim/arch/machine/array_slot.hpp"
#include "sim/arch/machine/gemm_controller.hpp"

namespace mantissa {
namespace {

using sc_core::sc_time;

constexpr int reset_cycles = 2;
constexpr std::uint64_t cycles_past_difference = 4;

// Time is counted in cycles; how long one is only the report knows.
sc_time half_cycle() { return {500, sc_core::SC_PS}; }
sc_time whole_cycle() { return {1000, sc_core::SC_PS}; }

const Architecture& checked(const Architecture& arch, const ArrayFormats& formats, Engine engine) {
  arch.check();
  if (arch.dataflow != Dataflow::os_skip) {
    throw std::invalid_argument("the machine that is simulated has the dataflow os-skip, not " +
                                std::string(name_of(arch.dataflow)));
  }
  if (engine == Engine::fast)
    throw std::invalid_argument("the engine fast has no machine to simulate; take systemc, rtl or lockstep");
  check_array(arch, formats);
  if (engine != Engine::systemc) check_rtl_array(arch, formats);
  if (sc_core::sc_get_status() != sc_core::SC_ELABORATION)
    throw std::logic_error("an accelerator is made before the first one runs");
  return arch;
}

}  // namespace

LockstepError::LockstepError(LockstepDifference difference)
    : std::runtime_error(difference.unit + ": " + difference.mismatch.what + " in cycle " +
                         std::to_string(difference.mismatch.cycle)),
      difference_(std::move(difference)) {}

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
        dma_("dma", whole_cycle()) {
    dma_.socket.bind(dram_.socket);
    SC_HAS_PROCESS(Machine);
    SC_METHOD(tick);
    sensitive << go_;
    dont_initialize();
  }

  const Architecture& arch() const { return arch_; }
  const ArrayFormats& formats() const { return formats_; }

  ArrayRun run(const ArrayJob& job) {
    // Elaboration and the first evaluation of everything.
    if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
    ArrayRun result = simulate(job, ~std::uint64_t{0});
    if (!difference_) return result;
    LockstepDifference difference{
        .unit = array_name(formats_), .mismatch = *difference_, .seed = job.draws.run_seed};
    if (!options_.wave.empty()) {
      record(job, difference.mismatch.cycle + cycles_past_difference);
      difference.wave = options_.wave;
    }
    throw LockstepError(std::move(difference));
  }

 private:
  // Until the job is finished, the arrays differ, or that many cycles are over.
  ArrayRun simulate(const ArrayJob& job, std::uint64_t cycles) {
    controller_.emplace(MachineParts{arch_, formats_, array_, dma_, dram_, a_, b_, c_}, job);
    reset_left_ = reset_cycles;
    cycles_ = cycles;
    low_ = true;
    go_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
    const bool finished = !failure_ && controller_->finished();
    ArrayRun run = finished ? controller_->result() : ArrayRun{};
    controller_.reset();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return run;
  }

  // The same job again, with a device that writes a waveform beside the RTL.
  void record(const ArrayJob& job, std::uint64_t cycles) {
    Device device(compile_array(arch_, formats_, options_.rtl_directory, true).object);
    device.open_wave(options_.wave);
    array_.mirror(&device);
    comparing_ = false;
    simulate(job, cycles);
    comparing_ = true;
    array_.mirror(nullptr);
    device.close_wave();
  }

  // The clock of this machine: inputs change with its falling edge, and what stands just before the rising
  // edge is what counts. SystemC must not see an exception.
  void tick() {
    if (!controller_) return;
    try {
      if (low_ ? first_half() : second_half()) next_trigger(half_cycle());
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  bool first_half() {
    array_.clock(false);
    array_.reset(reset_left_ > 0);
    if (reset_left_ > 0) {
      array_.offer(false);
      array_.take(false);
    } else {
      controller_->drive();
    }
    low_ = false;
    return true;
  }

  bool second_half() {
    low_ = true;
    if (reset_left_ > 0) {
      --reset_left_;
    } else {
      if (comparing_) difference_ = array_.compare();
      if (difference_ && comparing_) {
        difference_->cycle = controller_->cycles();
        return false;
      }
      controller_->cycle();
      if (controller_->finished() || controller_->cycles() >= cycles_) return false;
      if (controller_->array_rests()) return true;
    }
    array_.clock(true);
    return true;
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

  sc_core::sc_event go_;
  std::optional<GemmController> controller_;  // while there is a job
  bool low_ = true;                           // the half cycle that comes
  int reset_left_ = 0;                        // cycles
  std::uint64_t cycles_ = 0;                  // at most
  bool comparing_ = true;
  std::optional<Mismatch> difference_;
  std::exception_ptr failure_;
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
