// The unpacker between DMA and buffer A: packed lines come in as the DMA's bytes do, and codes go out
// (ARITHMETIC.md 7, "Zeros in memory"). It is one zero_unpacker, whose own clock ticks once per beat, as
// often in a cycle of the machine as the bytes of that cycle make beats: it stands for as many side by side.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/compress/packed_beats.hpp"
#include "sim/arch/architecture.hpp"
#include "sim/machine/unit_slot.hpp"
#include "sim/units/packed_ports.hpp"

namespace mantissa {

class LineUnpacker : public sc_core::sc_module {
 public:
  // Of gradients in this format. Throws what compiling RTL throws.
  LineUnpacker(const sc_core::sc_module_name& name, const Architecture& arch, const Format& format,
               Engine engine, const std::filesystem::path& rtl_directory);

  // Its own clock takes the unit through the reset.
  void reset(bool active);
  // A transfer begins: lines of so many elements each.
  void begin(std::vector<std::int64_t> line_elements);
  // Just before a clock edge: so many of its bytes, the first ones, have come with it.
  void come(std::span<const std::uint8_t> bytes);
  // What the beats of the last call take of the time before the next edge.
  sc_core::sc_time time_needed() const;
  // A later cycle: the codes of all lines, packed without gaps. Throws UnitFailure for a line that the unit
  // has refused, and std::logic_error for one that has not come.
  std::vector<std::uint8_t> take();

  // The first beat of this job in which SystemC and RTL differed.
  const std::optional<Mismatch>& compare() const { return difference_; }
  UnitSlot& slot() { return slot_; }
  const UnitParameters& parameters() const { return parameters_; }

 private:
  // The ports of zero_unpacker, in order.
  enum Input { mask, elements, word, fill, last };
  enum Output { codes, codes_count, codes_last, error };

  void tick();
  void offer_beat();
  void take_codes();

  UnitParameters parameters_;
  PackedPorts ports_;
  UnitSlot slot_;
  PackedLineReader reader_;
  sc_core::sc_event go_;
  bool resets_ = false;
  bool low_ = true;  // the half of the unit's clock that comes

  std::vector<PackedBeat> beats_;  // that have come, and
  std::size_t next_ = 0;           // the first of them that has not gone in
  std::vector<std::uint8_t> packed_;
  std::int64_t expected_ = 0;  // codes
  std::int64_t here_ = 0;      // of them
  bool refused_ = false;
  std::optional<Mismatch> difference_;
};

// The parameters of the unit: lanes for the bytes that DRAM delivers in a cycle, as far as a unit has them.
UnitParameters unpacker_parameters(const Architecture& arch, const Format& format);

}  // namespace mantissa
