#include "sim/machine/block_accelerator.hpp"

#include "sim/machine/block_controller.hpp"
#include "sim/machine/job_clock.hpp"

namespace mantissa {
namespace {

const Architecture& checked_blocks(const Architecture& arch, const ArrayFormats& formats, Engine engine) {
  check_machine(arch, engine);
  if (!formats.a.is_code() || !formats.b.is_code()) {
    throw std::invalid_argument("the second machine's array has operands of codes, not " + formats.a.name() +
                                " x " + formats.b.name());
  }
  return arch;
}

// The array, and what stands behind its drain.
struct BlockUnits {
  BlockArraySlot array;
  UnitLanes statistics;
  bool in_statistics = false;  // the last difference

  void clock(bool level) {
    array.clock(level);
    statistics.clock(level);
  }
  void reset(bool active) {
    array.reset(active);
    statistics.reset(active);
  }
  void offer(bool valid) {
    array.offer(valid);
    statistics.offer(valid);
  }
  void take(bool ready) {
    array.take(ready);
    statistics.take(ready);
  }
  std::optional<Mismatch> compare() {
    std::optional<Mismatch> mismatch = array.compare();
    in_statistics = !mismatch;
    return mismatch ? mismatch : statistics.compare();
  }
  std::string different() const {
    return in_statistics ? statistics.name() + ", lane " + std::to_string(statistics.different_lane())
                         : "block_array";
  }
};

}  // namespace

class BlockAccelerator::Machine : public sc_core::sc_module {
 public:
  Machine(const sc_core::sc_module_name& name, const Architecture& arch, const ArrayFormats& formats,
          const AcceleratorOptions& options)
      : sc_module(name),
        arch_(arch),
        formats_(formats),
        options_(options),
        units_{{arch, formats, options.engine, options.rtl_directory},
               make_statistics_units(options.engine, statistics_size(),
                                     options.drain_statistics.channels > 0 ? arch.cols : 0,
                                     options.rtl_directory)},
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
        .unit = units_.different(), .mismatch = *clock_.difference(), .seed = job.draws.run_seed};
    if (!options_.wave.empty()) {
      record(job, difference.mismatch.cycle + cycles_past_difference);
      difference.wave = options_.wave;
    }
    throw LockstepError(std::move(difference));
  }

 private:
  using Clock = JobClock<BlockUnits, BlockController>;

  BlockParts parts() { return {arch_, formats_, units_.array, dma_, dram_, units_.statistics}; }

  StatisticsSize statistics_size() const { return {options_.drain_statistics, arch_.cols}; }

  // The same job again, with a device that writes a waveform beside the RTL.
  void record(const BlockArrayJob& job, std::uint64_t cycles) {
    const bool array = !units_.in_statistics;
    const CompiledDevice device =
        array ? compile_block_array(arch_, formats_, options_.rtl_directory, true)
              : compile_statistics_unit(statistics_size(), options_.rtl_directory, true);
    UnitLanes& lanes = units_.statistics;
    const UnitRecording recording(array ? units_.array.slot() : lanes.lane(lanes.different_lane()),
                                  device.object, options_.wave);
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
