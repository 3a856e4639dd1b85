// The golden side of a lockstep run: what to drive into a unit, what must come out, and what a run has met.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/dut/bits.hpp"
#include "sim/stimulus/values.hpp"
#include "sim/units/mac_tap.hpp"
#include "sim/verify/functional_coverage.hpp"

namespace mantissa::verify {

// The values of a unit's data inputs, or of its data outputs, in the order of its ports.
using Transaction = std::vector<Bits>;

struct Expected {
  Transaction outputs;
  Transaction cause;  // the input transaction that led here
};

class Reference {
 public:
  Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  virtual ~Reference() = default;

  // Input transaction number `index` of a run: corners, and random ones from `dice`.
  virtual Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) = 0;
  // What to drive in a cycle without an input transaction; nothing: the inputs stay as they are. Called once
  // per such cycle, in order with accept.
  virtual Transaction idle(stimulus::Dice& /*dice*/) { return {}; }
  // The transaction that is on offer was not taken and is offered again: inputs that do not belong to it may
  // change. True: some have. Called once per such cycle.
  virtual bool offer_again(Transaction& /*inputs*/, stimulus::Dice& /*dice*/) { return false; }
  // The exhaustive run, where the unit has one: how long it is, and its transactions.
  virtual std::uint64_t exhaustive_count() const { return 0; }
  virtual Transaction exhaustive_stimulus(std::uint64_t /*index*/) { return {}; }

  // The unit has taken this input: the golden model's answers join what is expected.
  virtual void accept(const Transaction& inputs) = 0;
  // What the unit must give next; nothing where it must be silent.
  virtual std::optional<Expected> next();
  // It has just given that, in a cycle with these inputs. Without a transaction they are those of idle.
  virtual void given(const Transaction& /*inputs*/) {}
  // Nothing is owed.
  virtual bool drained() const { return expected_.empty(); }
  // How often an input is offered, of 256 cycles, when the bench does not hold it back.
  virtual int input_rate() const { return 256; }

  // Stimulus that keeps the unit busy, for measuring its speed.
  virtual Transaction busy_stimulus(std::uint64_t index, stimulus::Dice& dice) {
    return stimulus(index, dice);
  }
  // How many operations this input stands for: multiply-accumulates of an array, 1 of most units.
  virtual std::uint64_t operations(const Transaction& /*inputs*/) const { return 1; }

  // For a mismatch: an output as a number, empty where it is none; and the golden model's inside view in
  // words, one line each.
  virtual std::string decimal(std::size_t /*output*/, const Bits& /*bits*/) const { return {}; }
  virtual std::vector<std::string> explain(const Transaction& cause) const = 0;
  // What the difference between these outputs points to, for a device that shows no intermediate values;
  // empty: cannot tell.
  virtual std::string diagnose(const Expected& /*expected*/, const Transaction& /*actual*/) const {
    return {};
  }
  // Of tap_o, where the unit has one.
  virtual TapLayout tap_layout() const { return {}; }

  const FunctionalCoverage& coverage() const { return coverage_; }

 protected:
  void expect(Transaction outputs, const Transaction& cause) {
    expected_.push_back({std::move(outputs), cause});
  }
  FunctionalCoverage coverage_;

 private:
  std::deque<Expected> expected_;
};

inline std::optional<Expected> Reference::next() {
  if (expected_.empty()) return std::nullopt;
  Expected front = std::move(expected_.front());
  expected_.pop_front();
  return front;
}

}  // namespace mantissa::verify
