#include "sim/machine/norm_stream.hpp"

#include <stdexcept>
#include <string>

#include "models/quantize/rounding_draws.hpp"
#include "sim/machine/norm_units.hpp"
#include "sim/machine/rtl_norm.hpp"
#include "sim/machine/stream_bed.hpp"
#include "sim/units/range_bn_codes.hpp"

namespace mantissa {
namespace {

// No index of a channel is looked at.
constexpr NormSize any_size{};

// The numbers of the channel that a lane's element belongs to, whatever its neighbours' are: to its unit
// each element is a channel of its own.
class NormStreamLanes : public UnitStreamLanes {
 public:
  NormStreamLanes(UnitLanes& units, const NormStreamJob& job)
      : UnitStreamLanes(units),
        job_(job),
        draws_(job.drain ? job.drain->rounding : Rounding::rne(), job.draws) {}

 protected:
  const NormStreamJob& job() const { return job_; }
  std::int64_t channel_of(std::int64_t element) const {
    return element / job_.shape.spatial % job_.shape.channels;
  }
  // In stream order.
  std::int64_t index_of(std::int64_t element) const {
    const NormShape& shape = job_.shape;
    return element / (shape.channels * shape.spatial) * shape.spatial + element % shape.spatial;
  }
  void write_number(std::int64_t lane, int port, float value) { write(lane, port, fp32_bits(value)); }
  // Through the quantizer, if there is one.
  std::uint32_t drained(std::int64_t lane, int port) {
    const auto number = static_cast<std::uint32_t>(units().lane(lane).output(port).value());
    return job_.drain ? convert(number, *job_.drain, draws_.next()).code : number;
  }

 private:
  const NormStreamJob& job_;
  RoundingDraws draws_;
};

class ForwardLanes : public NormStreamLanes {
 public:
  ForwardLanes(UnitLanes& units, const NormStreamJob& job) : NormStreamLanes(units, job), x_value_(job.x) {}

  void feed(std::int64_t lane, std::int64_t element, std::span<const std::uint32_t> inputs) override {
    using Ports = NormForwardPorts;
    const std::int64_t channel = channel_of(element);
    if (element == lane) {
      write(lane, Ports::mode, static_cast<std::uint64_t>(BnMode::normalise));
      write(lane, Ports::count, 1);
    }
    write_number(lane, Ports::x, x_value_(inputs[0]));
    write_number(lane, Ports::gamma, job().gamma[channel]);
    write_number(lane, Ports::beta, job().beta[channel]);
    write_number(lane, Ports::mean, job().saved[channel].mean);
    write_number(lane, Ports::inv, job().saved[channel].inv);
  }

  void result(std::int64_t lane, std::int64_t /*element*/, std::span<std::uint32_t> outputs) override {
    outputs[0] = drained(lane, NormForwardPorts::first);
  }

 private:
  ElementDecoder x_value_;
};

class BackwardLanes : public NormStreamLanes {
 public:
  BackwardLanes(UnitLanes& units, const NormStreamJob& job)
      : NormStreamLanes(units, job), x_value_(job.x), g_value_(job.g) {}

  void feed(std::int64_t lane, std::int64_t element, std::span<const std::uint32_t> inputs) override {
    using Ports = NormBackwardPorts;
    const std::int64_t channel = channel_of(element);
    if (element == lane) {
      write(lane, Ports::given, 1);
      write(lane, Ports::count, 1);
    }
    write_number(lane, Ports::x, x_value_(inputs[0]));
    write_number(lane, Ports::g, g_value_(inputs[1]));
    write_number(lane, Ports::gamma, job().gamma[channel]);
    write_number(lane, Ports::inv, job().saved[channel].inv);
    write_number(lane, Ports::mean_h, job().corrections[channel].mean_h);
    write_number(lane, Ports::shift, job().corrections[channel].t);
    const RangeBnSaved& saved = job().saved[channel];
    const std::int64_t index = index_of(element);
    const std::int64_t chunk = index / job().chunk_length;
    // In a channel of one element: its own index, or that of another.
    write(lane, Ports::argmax, saved.argmax[chunk] == index ? 0 : 1);
    write(lane, Ports::argmin, saved.argmin[chunk] == index ? 0 : 1);
  }

  void result(std::int64_t lane, std::int64_t /*element*/, std::span<std::uint32_t> outputs) override {
    outputs[0] = drained(lane, NormBackwardPorts::first);
  }

 private:
  ElementDecoder x_value_;
  ElementDecoder g_value_;
};

void check_norm_stream(const NormStreamJob& job) {
  const bool backward = job.direction == NormDirection::backward;
  check_elements("x", job.x.size(), job.shape);
  check_per_channel("gamma", job.gamma.size(), job.shape);
  check_per_channel("saved", job.saved.size(), job.shape);
  if (!backward) return check_per_channel("beta", job.beta.size(), job.shape);
  check_elements("g", job.g.size(), job.shape);
  check_per_channel("corrections", job.corrections.size(), job.shape);
  const auto reaches = [&job](const std::vector<std::int64_t>& indices) {
    return job.chunk_length > 0 && std::ssize(indices) * job.chunk_length >= job.shape.per_channel();
  };
  for (const RangeBnSaved& saved : job.saved) {
    if (reaches(saved.argmax) && reaches(saved.argmin)) continue;
    throw std::invalid_argument("a second backward pass needs one argmax and one argmin for each chunk of " +
                                std::to_string(job.chunk_length) + " of " +
                                std::to_string(job.shape.per_channel()) + " elements");
  }
}

}  // namespace

StreamJob stream_of(const Architecture& arch, const NormStreamJob& job) {
  StreamJob stream = fused_norm_job(arch,
                                    {.channels = job.shape.channels,
                                     .elements = job.shape.per_channel(),
                                     .x_bits = job.x.type().bits(),
                                     .result_bits = job.drain ? job.drain->to.bits() : formats::fp32.bits(),
                                     .gradient_bits = job.g.type().bits(),
                                     .parts = job.parts},
                                    job.direction);
  if (!job.statistics_taken) stream.ready = 0;
  return stream;
}

class NormStreamMachine::Machine {
 public:
  Machine(const Architecture& arch, const AcceleratorOptions& options)
      : forward_(bed(arch, options, NormDirection::forward)),
        backward_(bed(arch, options, NormDirection::backward)) {}

  NormStreamRun run(const NormStreamJob& job) {
    check_norm_stream(job);
    const bool backward = job.direction == NormDirection::backward;
    StreamBed& machine = backward ? *backward_ : *forward_;
    StreamInputs inputs{packed_tensor(job.x)};
    if (backward) inputs.push_back(packed_tensor(job.g));
    const auto lanes = [&job, backward](UnitLanes& units) -> std::unique_ptr<StreamLanes> {
      if (backward) return std::make_unique<BackwardLanes>(units, job);
      return std::make_unique<ForwardLanes>(units, job);
    };
    StreamRun run = machine.run(lanes, stream_of(machine.architecture(), job), inputs, job.draws.run_seed);
    return {std::move(run.outputs[0]), run.cycles};
  }

 private:
  static std::unique_ptr<StreamBed> bed(const Architecture& arch, const AcceleratorOptions& options,
                                        NormDirection direction) {
    const int index_bits = norm_index_bits(any_size);
    return std::make_unique<StreamBed>(
        sc_core::sc_gen_unique_name("norm_stream"), arch,
        norm_unit_kind(direction, index_bits, options.engine, options.rtl_directory), arch.norm_lanes,
        options, [=] { return compile_norm_unit(direction, index_bits, options.rtl_directory, true); });
  }

  // The same memory around other units: only one of them works at a time.
  std::unique_ptr<StreamBed> forward_;
  std::unique_ptr<StreamBed> backward_;
};

NormStreamMachine::NormStreamMachine(const Architecture& arch, const AcceleratorOptions& options) {
  check_machine(arch, options.engine);
  machine_ = std::make_unique<Machine>(arch, options);
}

NormStreamMachine::~NormStreamMachine() = default;

NormStreamRun NormStreamMachine::run(const NormStreamJob& job) { return machine_->run(job); }

}  // namespace mantissa
