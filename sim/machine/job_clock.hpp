// The clock of a machine. It runs one job after the other, each from reset, and stands still between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <systemc>
#include <utility>

#include "sim/arch/architecture.hpp"
#include "sim/machine/engine.hpp"
#include "sim/units/mismatch.hpp"

namespace mantissa {

// Cycles of a waveform past the difference that it shows.
constexpr std::uint64_t cycles_past_difference = 4;

// Time is counted in cycles; how long one is only the report knows.
inline sc_core::sc_time half_cycle() { return {500, sc_core::SC_PS}; }
inline sc_core::sc_time whole_cycle() { return {1000, sc_core::SC_PS}; }

// Throws std::invalid_argument for what no machine simulates, and std::logic_error once one has run.
inline void check_machine(const Architecture& arch, Engine engine) {
  arch.check();
  if (arch.dataflow != Dataflow::os_skip) {
    throw std::invalid_argument("the machine that is simulated has the dataflow os-skip, not " +
                                std::string(name_of(arch.dataflow)));
  }
  if (engine == Engine::fast)
    throw std::invalid_argument("the engine fast has no machine to simulate; take systemc, rtl or lockstep");
  if (sc_core::sc_get_status() != sc_core::SC_ELABORATION)
    throw std::logic_error("an accelerator is made before the first one runs");
}

// Elaboration and the first evaluation of everything: before the first controller, which wants its DRAM.
inline void finish_elaboration() {
  if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

// Units have clock, reset, offer, take and compare; a controller has drive, cycle, cycles, finished and
// units_rest; it may have settle_time, for units with a clock of their own.
template <class Units, class Controller>
class JobClock : public sc_core::sc_module {
 public:
  JobClock(const sc_core::sc_module_name& name, Units& units) : sc_module(name), units_(units) {
    SC_HAS_PROCESS(JobClock);
    SC_METHOD(tick);
    sensitive << go_;
    dont_initialize();
  }

  enum class Compare : bool { no, yes };
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  // Until the job is finished, units differ, or that many cycles are over. True: it is finished.
  bool run(Controller& controller, std::uint64_t cycles = no_limit, Compare compare = Compare::yes) {
    controller_ = &controller;
    cycles_ = cycles;
    compare_ = compare;
    difference_.reset();
    reset_left_ = reset_cycles;
    low_ = true;
    go_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
    controller_ = nullptr;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return controller.finished();
  }
  // Of the last run.
  const std::optional<Mismatch>& difference() const { return difference_; }

 private:
  static constexpr int reset_cycles = 2;

  // Inputs change with the falling edge, and what stands just before the rising edge is what counts. SystemC
  // must not see an exception.
  void tick() {
    if (controller_ == nullptr) return;
    try {
      if (low_ ? first_half() : second_half()) next_trigger(pause());
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  // Until the next half cycle: units with a clock of their own may take longer.
  sc_core::sc_time pause() const {
    if constexpr (requires { controller_->settle_time(); }) {
      return std::max(half_cycle(), controller_->settle_time());
    } else {
      return half_cycle();
    }
  }

  bool first_half() {
    units_.clock(false);
    units_.reset(reset_left_ > 0);
    if (reset_left_ > 0) {
      units_.offer(false);
      units_.take(false);
    } else {
      controller_->drive();
    }
    low_ = false;
    return true;
  }

  bool second_half() {
    low_ = true;
    if (reset_left_ > 0) {
      --reset_left_;
    } else {
      if (compare_ == Compare::yes) difference_ = units_.compare();
      if (difference_) {
        difference_->cycle = controller_->cycles();
        return false;
      }
      controller_->cycle();
      if (controller_->finished() || controller_->cycles() >= cycles_) return false;
      if (controller_->units_rest()) return true;
    }
    units_.clock(true);
    return true;
  }

  Units& units_;
  sc_core::sc_event go_;
  Controller* controller_ = nullptr;  // while there is a job
  bool low_ = true;                   // the half cycle that comes
  int reset_left_ = 0;                // cycles
  std::uint64_t cycles_ = no_limit;   // at most
  Compare compare_ = Compare::yes;
  std::optional<Mismatch> difference_;
  std::exception_ptr failure_;
};

}  // namespace mantissa
