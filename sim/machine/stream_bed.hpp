// Lanes of units with queue, buffers and DRAM of the second machine around them: streams, one after the
// other.
#pragma once

#include <functional>
#include <memory>

#include "sim/dut/verilator.hpp"
#include "sim/machine/job_clock.hpp"
#include "sim/machine/lockstep.hpp"
#include "sim/machine/stream_controller.hpp"

namespace mantissa {

class StreamBed : public sc_core::sc_module {
 public:
  // The RTL of a unit that writes waves.
  using CompileForWaves = std::function<CompiledDevice()>;
  StreamBed(const sc_core::sc_module_name& name, const Architecture& arch, UnitLanes::Kind kind,
            std::int64_t lanes, const AcceleratorOptions& options, CompileForWaves compile_for_waves);

  const Architecture& architecture() const { return arch_; }

  // What the units are in this stream, which is run again for the waveform of a difference.
  using MakeLanes = std::function<std::unique_ptr<StreamLanes>(UnitLanes&)>;
  // From reset. Throws LockstepError and UnitFailure, and std::invalid_argument for a stream that does not
  // fit.
  StreamRun run(const MakeLanes& make_lanes, const StreamJob& job, const StreamInputs& inputs,
                std::uint64_t seed);

 private:
  using Clock = JobClock<UnitLanes, StreamController>;
  void record(StreamController& controller, std::uint64_t cycles);

  Architecture arch_;
  AcceleratorOptions options_;
  CompileForWaves compile_for_waves_;
  UnitLanes units_;
  Dram dram_;
  QueueDma dma_;
  Clock clock_;
};

// The elements of a tensor as they lie in memory.
std::vector<std::uint8_t> packed_tensor(const EncodedTensor& tensor);

}  // namespace mantissa
