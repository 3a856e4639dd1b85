#include "sim/machine/stream_bed.hpp"

#include <utility>

#include "models/format/packed.hpp"

namespace mantissa {

StreamBed::StreamBed(const sc_core::sc_module_name& name, const Architecture& arch, UnitLanes::Kind kind,
                     std::int64_t lanes, const AcceleratorOptions& options, CompileForWaves compile_for_waves)
    : sc_module(name),
      arch_(arch),
      options_(options),
      compile_for_waves_(std::move(compile_for_waves)),
      units_(options.engine, std::move(kind), lanes),
      dram_("dram", arch, whole_cycle()),
      dma_("dma", arch, whole_cycle()),
      clock_("clock", units_) {
  dma_.socket.bind(dram_.socket);
}

StreamRun StreamBed::run(const MakeLanes& make_lanes, const StreamJob& job, const StreamInputs& inputs,
                         std::uint64_t seed) {
  finish_elaboration();
  const StreamParts parts{arch_, dma_, dram_};
  const std::unique_ptr<StreamLanes> lanes = make_lanes(units_);
  StreamController controller(*lanes, parts, job, inputs);
  if (clock_.run(controller)) return controller.result();
  LockstepDifference difference{.unit = units_.name() + ", lane " + std::to_string(units_.different_lane()),
                                .mismatch = *clock_.difference(),
                                .seed = seed};
  if (!options_.wave.empty()) {
    const std::unique_ptr<StreamLanes> again = make_lanes(units_);
    StreamController recorded(*again, parts, job, inputs);
    record(recorded, difference.mismatch.cycle + cycles_past_difference);
    difference.wave = options_.wave;
  }
  throw LockstepError(std::move(difference));
}

// The same stream again, with a device that writes a waveform beside the RTL of the lane.
void StreamBed::record(StreamController& controller, std::uint64_t cycles) {
  const UnitRecording recording(units_.lane(units_.different_lane()), compile_for_waves_().object,
                                options_.wave);
  clock_.run(controller, cycles, Clock::Compare::no);
}

std::vector<std::uint8_t> packed_tensor(const EncodedTensor& tensor) {
  const auto count = static_cast<std::int64_t>(tensor.size());
  const int bits = tensor.type().bits();
  std::vector<std::uint8_t> packed(packed_bytes(count, bits));
  for (std::int64_t i = 0; i < count; ++i) set_packed_element(packed, i, bits, tensor.element(i));
  return packed;
}

}  // namespace mantissa
