// The units norm_statistics behind the lanes of a drain: fed with what has drained a cycle before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "sim/dut/verilator.hpp"
#include "sim/machine/block_array_job.hpp"
#include "sim/machine/unit_lanes.hpp"

namespace mantissa {

// The parameters of norm_statistics. They are the RTL's defaults where these do: one compiled unit does for
// most.
struct StatisticsSize {
  int columns = 16;  // channels of a lane
  int index_bits = 20;
  bool parts = false;

  StatisticsSize() = default;
  StatisticsSize(const DrainRoom& room, std::int64_t lanes);
};

CompiledDevice compile_statistics_unit(const StatisticsSize& size,
                                       const std::filesystem::path& rtl_directory = {}, bool wave = false);
// One per lane. Throws what compiling RTL throws.
UnitLanes make_statistics_units(Engine engine, const StatisticsSize& size, std::int64_t lanes,
                                const std::filesystem::path& rtl_directory);

// Of one job. Keeps references.
class StatisticsLanes {
 public:
  // Throws std::invalid_argument for a job with more channels or elements than the units have room for.
  StatisticsLanes(UnitLanes& units, const BlockArrayJob& job, const Format& results);

  // The drain sends an element of global column `channel` in this cycle; the unit gets it in the next one.
  void drained(std::int64_t lane, std::int64_t row, std::int64_t channel, std::uint32_t code,
               std::uint32_t x);
  // A cycle begins, and just before the edge that ends it. Throws UnitFailure.
  void drive();
  void cycle();
  // All channels have given what was collected of them. Throws UnitFailure where nothing more will come
  // though all has drained.
  bool done(bool all_drained) const;
  // Nothing is in the units, nor on its way there.
  bool rests() const { return quiet_ > quiet_cycles; }

  const std::vector<ChannelStatistics>& channels() const { return channels_; }  // of the job's columns

 private:
  // Longer than anything stays in a unit.
  static constexpr int quiet_cycles = 10;
  struct Element {
    bool there = false;
    std::int64_t row = 0;
    std::int64_t channel = 0;
    std::uint32_t code = 0;
    std::uint32_t x = 0;
  };
  void write(std::int64_t lane, int port, std::uint64_t value);
  void write(std::int64_t lane, int port, float value) { write(lane, port, std::uint64_t{fp32_bits(value)}); }
  void feed(std::int64_t lane, const Element& element);
  void take(std::int64_t lane);

  UnitLanes& units_;
  const BlockArrayJob& job_;
  Conversion value_;  // of a code
  ElementDecoder x_value_;
  std::int64_t chunk_length_;
  std::int64_t part_length_;
  std::vector<Element> waiting_;  // one per lane: what has just drained
  std::vector<bool> offered_;
  std::vector<ChannelStatistics> channels_;
  std::int64_t ended_ = 0;
  int quiet_ = 0;
};

}  // namespace mantissa
