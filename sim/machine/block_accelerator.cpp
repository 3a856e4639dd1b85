#include "sim/machine/block_accelerator.hpp"

#include "sim/machine/block_controller.hpp"
#include "sim/machine/block_units.hpp"
#include "sim/machine/job_clock.hpp"
#include "sim/machine/rtl_unit.hpp"
#include "sim/units/unit_configs.hpp"

namespace mantissa {
namespace {

// Integers are not packed.
bool packs(const Architecture& arch, const ArrayFormats& formats) {
  return arch.gradient_storage == GradientStorage::packed && formats.a.is_code();
}

// What can fail comes before the first module: SystemC does not take one back.
const Architecture& checked_blocks(const Architecture& arch, const ArrayFormats& formats,
                                   const AcceleratorOptions& options) {
  check_machine(arch, options.engine);
  const bool codes = formats.a.is_code() && formats.b.is_code();
  if (!codes && !(formats.a.is_integer() && formats.b.is_integer())) {
    throw std::invalid_argument("the second machine's arrays have operands of codes or of integers, not " +
                                formats.a.name() + " x " + formats.b.name());
  }
  if (!codes) int_block_array_config(block_array_parameters(arch, formats)).check();
  if (packs(arch, formats) && options.engine != Engine::systemc)
    compile_unit("zero_unpacker", unpacker_parameters(arch, formats.a.format()), options.rtl_directory);
  return arch;
}

std::unique_ptr<LineUnpacker> make_unpacker(const Architecture& arch, const ArrayFormats& formats,
                                            const AcceleratorOptions& options) {
  if (!packs(arch, formats)) return nullptr;
  return std::make_unique<LineUnpacker>("unpacker", arch, formats.a.format(), options.engine,
                                        options.rtl_directory);
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
        array_(arch, formats, options.engine, options.rtl_directory),
        unpacker_(make_unpacker(arch, formats, options)),
        units_(array_, unpacker_.get()),
        dram_("dram", arch, whole_cycle()),
        dma_("dma", arch, whole_cycle()),
        clock_("clock", units_) {
    dma_.socket.bind(dram_.socket);
  }

  const Architecture& arch() const { return arch_; }
  const ArrayFormats& formats() const { return formats_; }

  ArrayRun run(const BlockArrayJob& job) {
    finish_elaboration();
    BlockController controller(parts(), job);
    if (clock_.run(controller)) return controller.result();
    LockstepDifference difference{
        .unit = units_.unpacker_differs() ? "zero_unpacker" : block_array_name(formats_),
        .mismatch = *clock_.difference(),
        .seed = job.draws.run_seed};
    if (!options_.wave.empty()) {
      record(job, difference.mismatch.cycle + cycles_past_difference);
      difference.wave = options_.wave;
    }
    throw LockstepError(std::move(difference));
  }

 private:
  using Clock = JobClock<BlockUnits, BlockController>;

  BlockParts parts() { return {arch_, formats_, array_, dma_, dram_, unpacker_.get()}; }

  // The same job again, with a device that writes a waveform beside the RTL.
  void record(const BlockArrayJob& job, std::uint64_t cycles) {
    const bool unpacker = units_.unpacker_differs();
    const CompiledDevice device =
        unpacker ? compile_unit("zero_unpacker", unpacker_->parameters(), options_.rtl_directory, true)
                 : compile_block_array(arch_, formats_, options_.rtl_directory, true);
    const UnitRecording recording(unpacker ? unpacker_->slot() : array_.slot(), device.object, options_.wave);
    BlockController controller(parts(), job);
    clock_.run(controller, cycles, Clock::Compare::no);
  }

  Architecture arch_;
  ArrayFormats formats_;
  AcceleratorOptions options_;
  BlockArraySlot array_;
  std::unique_ptr<LineUnpacker> unpacker_;
  BlockUnits units_;
  Dram dram_;
  QueueDma dma_;
  Clock clock_;
};

BlockAccelerator::BlockAccelerator(const Architecture& arch, const ArrayFormats& formats,
                                   const AcceleratorOptions& options)
    : machine_(std::make_unique<Machine>(sc_core::sc_gen_unique_name("block_accelerator"),
                                         checked_blocks(arch, formats, options), formats, options)) {}

BlockAccelerator::~BlockAccelerator() = default;

const Architecture& BlockAccelerator::architecture() const { return machine_->arch(); }
const ArrayFormats& BlockAccelerator::formats() const { return machine_->formats(); }

ArrayRun BlockAccelerator::run(const BlockArrayJob& job) { return machine_->run(job); }

}  // namespace mantissa
