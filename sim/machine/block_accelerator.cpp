#include "sim/machine/block_accelerator.hpp"

#include <stdexcept>

#include "sim/machine/block_controller.hpp"
#include "sim/machine/block_units.hpp"
#include "sim/machine/job_clock.hpp"
#include "sim/units/unit_configs.hpp"

namespace mantissa {
namespace {

// What can fail comes before the first module: SystemC does not take one back.
const Architecture& checked_blocks(const Architecture& arch, const ArrayFormats& formats, Engine engine) {
  check_machine(arch, engine);
  const bool codes = formats.a.is_code() && formats.b.is_code();
  if (!codes && !(formats.a.is_integer() && formats.b.is_integer())) {
    throw std::invalid_argument("the second machine's arrays have operands of codes or of integers, not " +
                                formats.a.name() + " x " + formats.b.name());
  }
  if (!codes) int_block_array_config(block_array_parameters(arch, formats)).check();
  return arch;
}

}  // namespace

class BlockAccelerator::Machine : public sc_core::sc_module {
 public:
  Machine(const sc_core::sc_module_name& name, const Architecture& arch, const ArrayFormats& formats,
          const AcceleratorOptions& options)
      : sc_module(name),
        arch_(arch),
        formats_(formats),
        options_(options),
        units_(arch, formats, options),
        dram_("dram", arch, whole_cycle()),
        dma_("dma", arch, whole_cycle()),
        clock_("clock", units_) {
    dma_.socket.bind(dram_.socket);
  }

  const Architecture& arch() const { return arch_; }
  const ArrayFormats& formats() const { return formats_; }

  ArrayRun run(const BlockArrayJob& job) {
    finish_elaboration();
    const DrainRoom& room = options_.drain_statistics;
    if (job.statistics.parts > 1 && room.channels > 0 && !room.parts)
      throw std::invalid_argument("statistics in parts: the units behind the drain were built without parts");
    BlockController controller(parts(), job);
    if (clock_.run(controller, job.most_cycles)) return controller.result();
    if (!clock_.difference())
      throw UnitFailure(not_finished(block_array_name(formats_), controller.cycles()));
    LockstepDifference difference{
        .unit = units_.different(), .mismatch = *clock_.difference(), .seed = job.draws.run_seed};
    if (!options_.wave.empty()) {
      record(job, difference.mismatch.cycle + cycles_past_difference);
      difference.wave = options_.wave;
    }
    throw LockstepError(std::move(difference));
  }

 private:
  using Clock = JobClock<BlockUnits, BlockController>;

  BlockParts parts() {
    return {arch_, formats_, units_.array(),    units_.lowering(),
            dma_,  dram_,    units_.unpacker(), units_.statistics()};
  }

  // The same job again, with a device that writes a waveform beside the RTL.
  void record(const BlockArrayJob& job, std::uint64_t cycles) {
    const auto recording = units_.record(options_.rtl_directory, options_.wave);
    BlockController controller(parts(), job);
    clock_.run(controller, cycles, Clock::Compare::no);
  }

  Architecture arch_;
  ArrayFormats formats_;
  AcceleratorOptions options_;
  BlockUnits units_;
  Dram dram_;
  QueueDma dma_;
  Clock clock_;
};

BlockAccelerator::BlockAccelerator(const Architecture& arch, const ArrayFormats& formats,
                                   const AcceleratorOptions& options)
    : machine_(std::make_unique<Machine>(sc_core::sc_gen_unique_name("block_accelerator"),
                                         checked_blocks(arch, formats, options.engine), formats, options)) {}

BlockAccelerator::~BlockAccelerator() = default;

const Architecture& BlockAccelerator::architecture() const { return machine_->arch(); }
const ArrayFormats& BlockAccelerator::formats() const { return machine_->formats(); }

ArrayRun BlockAccelerator::run(const BlockArrayJob& job) { return machine_->run(job); }

}  // namespace mantissa
