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

class NormStreamLanes : public UnitStreamLanes {
 public:
  NormStreamLanes(UnitLanes& units, const NormStreamJob& job)
      : UnitStreamLanes(units),
        job_(job),
        x_value_(job.x),
        draws_(job.drain ? job.drain->rounding : Rounding::rne(), job.draws) {}

  void feed(std::int64_t lane, std::int64_t element, std::span<const std::uint32_t> inputs) override {
    using Ports = NormForwardPorts;
    const std::int64_t channel = element / job_.shape.spatial % job_.shape.channels;
    if (element == lane) {
      write(lane, Ports::mode, static_cast<std::uint64_t>(BnMode::normalise));
      write(lane, Ports::count, 1);
    }
    write(lane, Ports::x, fp32_bits(x_value_(inputs[0])));
    write(lane, Ports::gamma, fp32_bits(job_.gamma[channel]));
    write(lane, Ports::beta, fp32_bits(job_.beta[channel]));
    write(lane, Ports::mean, fp32_bits(job_.saved[channel].mean));
    write(lane, Ports::inv, fp32_bits(job_.saved[channel].inv));
  }

  void result(std::int64_t lane, std::int64_t /*element*/, std::span<std::uint32_t> outputs) override {
    const auto y = static_cast<std::uint32_t>(units().lane(lane).output(NormForwardPorts::first).value());
    outputs[0] = job_.drain ? convert(y, *job_.drain, draws_.next()).code : y;
  }

 private:
  const NormStreamJob& job_;
  ElementDecoder x_value_;
  RoundingDraws draws_;
};

void check_norm_stream(const NormStreamJob& job) {
  check_elements("x", job.x.size(), job.shape);
  const std::int64_t channels = job.shape.channels;
  if (std::ssize(job.gamma) != channels || std::ssize(job.beta) != channels ||
      std::ssize(job.saved) != channels) {
    throw std::invalid_argument("a batch norm of " + std::to_string(channels) +
                                " channels has as many gammas, betas and statistics");
  }
}

}  // namespace

StreamJob stream_of(const Architecture& arch, const NormStreamJob& job) {
  StreamJob stream = fused_norm_job(arch,
                                    {.channels = job.shape.channels,
                                     .elements = job.shape.per_channel(),
                                     .x_bits = job.x.type().bits(),
                                     .result_bits = job.drain ? job.drain->to.bits() : formats::fp32.bits(),
                                     .parts = job.parts},
                                    NormDirection::forward);
  if (!job.statistics_taken) stream.ready = 0;
  return stream;
}

class NormStreamMachine::Machine {
 public:
  Machine(const Architecture& arch, const AcceleratorOptions& options)
      : bed_(sc_core::sc_gen_unique_name("norm_stream"), arch,
             norm_unit_kind(NormDirection::forward, norm_index_bits(any_size), options.engine,
                            options.rtl_directory),
             arch.norm_lanes, options, [=] {
               return compile_norm_unit(NormDirection::forward, norm_index_bits(any_size),
                                        options.rtl_directory, true);
             }) {}

  NormStreamRun run(const NormStreamJob& job) {
    check_norm_stream(job);
    const auto lanes = [&job](UnitLanes& units) { return std::make_unique<NormStreamLanes>(units, job); };
    StreamRun run =
        bed_.run(lanes, stream_of(bed_.architecture(), job), {packed_tensor(job.x)}, job.draws.run_seed);
    return {std::move(run.outputs[0]), run.cycles};
  }

 private:
  StreamBed bed_;
};

NormStreamMachine::NormStreamMachine(const Architecture& arch, const AcceleratorOptions& options) {
  check_machine(arch, options.engine);
  machine_ = std::make_unique<Machine>(arch, options);
}

NormStreamMachine::~NormStreamMachine() = default;

NormStreamRun NormStreamMachine::run(const NormStreamJob& job) { return machine_->run(job); }

}  // namespace mantissa
