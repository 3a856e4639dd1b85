#include "sim/machine/line_unpacker.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "models/format/packed.hpp"
#include "sim/arch/sizes.hpp"
#include "sim/machine/lockstep.hpp"
#include "sim/machine/rtl_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

constexpr int most_lanes = 64;  // rtl/PORTS.md

// Half of the unit's clock, the shortest time that there is.
sc_core::sc_time half_beat() { return {1, sc_core::SC_PS}; }

std::unique_ptr<Device> load_unpacker(const UnitParameters& parameters, Engine engine,
                                      const std::filesystem::path& rtl_directory) {
  if (engine == Engine::systemc) return nullptr;
  return std::make_unique<Device>(compile_unit("zero_unpacker", parameters, rtl_directory).object);
}

}  // namespace

// A byte of mask is eight lanes. Without a register: codes are in the buffer with the cycle's end.
UnitParameters unpacker_parameters(const Architecture& arch, const Format& format) {
  const LineCode code = LineCode::of(format);
  const Ratio& burst = arch.dram_burst_cycles;
  const std::int64_t bytes = ceil_div(arch.dram_burst_bytes * burst.denominator, burst.numerator);
  return {{"Lanes", static_cast<int>(std::min<std::int64_t>(8 * bytes, most_lanes))},
          {"Width", code.bits},
          {"NegativeZero", code.negative_zero ? 1 : 0},
          {"PipeStages", 0}};
}

LineUnpacker::LineUnpacker(const sc_core::sc_module_name& name, const Architecture& arch,
                           const Format& format, Engine engine, const std::filesystem::path& rtl_directory)
    : sc_module(name),
      parameters_(unpacker_parameters(arch, format)),
      ports_(parameters_),
      slot_(engine, "zero_unpacker", load_unpacker(parameters_, engine, rtl_directory),
            make_zero_unpacker(sc_core::sc_gen_unique_name("zero_unpacker"), parameters_)),
      reader_(ports_.lanes, ports_.code) {
  SC_HAS_PROCESS(LineUnpacker);
  SC_METHOD(tick);
  sensitive << go_;
  dont_initialize();
}

void LineUnpacker::reset(bool active) {
  if (!active) return;
  begin({});
  resets_ = true;
  low_ = true;
  beats_.clear();
  next_ = 0;
  difference_.reset();
  go_.notify(sc_core::SC_ZERO_TIME);
}

void LineUnpacker::begin(std::vector<std::int64_t> line_elements) {
  expected_ = 0;
  for (const std::int64_t elements : line_elements) expected_ += elements;
  packed_.assign(packed_bytes(expected_, ports_.code.bits), 0);
  here_ = 0;
  refused_ = false;
  reader_.begin(std::move(line_elements));
}

void LineUnpacker::come(std::span<const std::uint8_t> bytes) {
  beats_.clear();
  next_ = 0;
  while (std::optional<PackedBeat> beat = reader_.next(bytes)) beats_.push_back(std::move(*beat));
  if (!beats_.empty()) go_.notify(sc_core::SC_ZERO_TIME);
}

sc_core::sc_time LineUnpacker::time_needed() const {
  return half_beat() * static_cast<double>(2 * (beats_.size() - next_) + 1);
}

// A beat goes in with the first half and is through with the second one.
void LineUnpacker::tick() {
  slot_.reset(resets_);
  slot_.take(true);
  if (resets_) {
    resets_ = false;
  } else if (low_) {
    slot_.clock(false);
    offer_beat();
    if (next_ == beats_.size()) return;
    low_ = false;
  } else {
    take_codes();
    slot_.clock(true);
    ++next_;
    low_ = true;
  }
  next_trigger(half_beat());
}

void LineUnpacker::offer_beat() {
  slot_.offer(next_ < beats_.size());
  if (next_ == beats_.size()) return;
  const PackedBeat& beat = beats_[next_];
  slot_.write(mask, ports_.mask(beat.mask));
  slot_.write(elements, ports_.count(beat.mask.size()));
  slot_.write(word, ports_.codes(beat.word));
  slot_.write(fill, ports_.count(beat.word.size()));
  slot_.write(last, Bits(1, beat.last ? 1 : 0));
}

void LineUnpacker::take_codes() {
  static const std::array<UnitSlot::Watched, 4> watched = {
      {{error, "error"}, {codes_last, "codes"}, {codes_count, "codes"}, {codes, "codes"}}};
  if (!difference_) difference_ = slot_.compare(watched);
  refused_ = refused_ || !slot_.valid() || slot_.output(error).value() != 0;
  if (refused_) return;
  const std::uint64_t count = slot_.output(codes_count).value();
  for (const std::uint8_t code : ports_.codes(slot_.output(codes), count)) {
    if (here_ < expected_) set_packed_element(packed_, here_, ports_.code.bits, code);
    ++here_;
  }
}

std::vector<std::uint8_t> LineUnpacker::take() {
  if (refused_) throw UnitFailure("zero_unpacker refuses a packed line");
  if (!reader_.done()) throw std::logic_error("a packed line has not come when its transfer ends");
  if (here_ != expected_) throw UnitFailure("zero_unpacker gives other codes than a packed line has");
  return std::move(packed_);
}

}  // namespace mantissa
