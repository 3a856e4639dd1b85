// Runs a stream on the second machine, cycle by cycle: feeds the lanes from the buffers, takes what they
// give, and names the cycles (ARITHMETIC.md 7, "Streams").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/cycle_counter.hpp"
#include "sim/machine/stream_lanes.hpp"
#include "sim/machine/stream_memory.hpp"

namespace mantissa {

struct StreamRun {
  std::vector<std::vector<std::uint32_t>> outputs;  // elements in order, tensor by tensor
  GemmCycles cycles;
};

class StreamController {
 public:
  // Lays the inputs into DRAM. What the lanes' latency is, is seen at their ports; the job's is not looked
  // at. Throws std::invalid_argument for a stream that cannot be.
  StreamController(StreamLanes& lanes, const StreamParts& parts, const StreamJob& job,
                   const StreamInputs& inputs);

  // A cycle begins: the lanes' inputs.
  void drive();
  // Just before the clock edge that ends it, with the outputs that the lanes show. Throws UnitFailure for
  // lanes that give what nobody waits for, or nothing at all.
  void cycle();
  // Nothing has gone into the lanes for a while, and nothing is in them: their clocks may stand still.
  bool units_rest() const { return quiet_ > 2; }
  bool finished() const { return memory_.finished(); }
  std::uint64_t cycles() const { return cycle_; }

  StreamRun result() const;

 private:
  // Element i goes through lane i mod lanes, so a lane's r-th one is r * lanes + lane.
  struct Lane {
    std::int64_t fed = 0;
    std::int64_t shown = 0;
    bool offering = false;
  };
  std::int64_t element(std::int64_t count, std::size_t lane) const {
    return count * job_.lanes + static_cast<std::int64_t>(lane);
  }
  bool may_start() const;
  CycleCounter::Kind kind() const;
  void take_elements();
  void take_results();
  [[noreturn]] void unexpected(std::size_t lane, const std::string& what) const;

  StreamLanes& units_;
  StreamJob job_;
  StreamMemory memory_;
  CycleCounter counter_{0};
  std::uint64_t cycle_ = 0;

  std::vector<Lane> lanes_;
  std::int64_t started_ = 0;   // segments
  std::int64_t computed_ = 0;  // segments: less than started while one computes
  std::int64_t taken_ = 0;     // elements
  std::int64_t shown_ = 0;
  std::int64_t out_ = 0;           // segments
  std::uint64_t waited_ = 0;       // cycles since the lanes took or gave something, though they should
  int quiet_ = 0;                  // cycles since the lanes had anything to do
  std::vector<std::uint32_t> in_;  // of one element
  std::vector<std::uint32_t> results_;
};

}  // namespace mantissa
