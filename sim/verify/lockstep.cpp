#include "sim/verify/lockstep.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "sim/verify/diagnosis.hpp"
#include "sim/verify/stalls.hpp"
#include "sim/verify/station.hpp"

namespace mantissa::verify {
namespace {

using sc_core::sc_signal;

constexpr int half_period_ns = 5;
constexpr int rehearsal_cycles = 512;

class Bench : public sc_core::sc_module {
 public:
  Bench(Reference& reference, Reference& rehearsal, UnitModule& systemc, bool compare_systemc, RtlModule& rtl,
        Device& device, bool back_pressure, LockstepOptions options, ProgressReport progress)
      : sc_module(sc_core::sc_module_name("bench")),
        reference_(reference),
        rehearsal_(rehearsal),
        device_(device),
        back_pressure_(back_pressure),
        options_(std::move(options)),
        progress_(std::move(progress)),
        stalls_(options_.seed),
        diagnosis_(reference, rtl),
        wanted_(options_.exhaustive ? reference.exhaustive_count() : options_.transactions) {
    stations_.push_back(std::make_unique<Station>(rtl, "rtl"));
    stations_.push_back(std::make_unique<Station>(systemc, "systemc"));
    for (DataIn* port : rtl.inputs()) {
      inputs_.push_back(
          std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("in"), Bits(port->width())));
    }
    for (const auto& station : stations_) connect(station->unit());
    if (compare_systemc) compared_ = stations_.size();
    SC_HAS_PROCESS(Bench);
    SC_THREAD(run);
  }

  LockstepResult result;

 private:
  void connect(UnitModule& unit) {
    unit.clk_i.bind(clk_);
    unit.rst_ni.bind(rst_n_);
    unit.valid_i.bind(valid_);
    unit.ready_i.bind(ready_);
    for (std::size_t i = 0; i < inputs_.size(); ++i) unit.inputs()[i]->bind(*inputs_[i]);
  }

  static void half_cycle() { sc_core::wait(half_period_ns, sc_core::SC_NS); }

  void dump() {
    if (options_.wave.empty() || cycle_ < options_.wave_first || cycle_ > options_.wave_last) return;
    device_.dump_wave(
        static_cast<std::uint64_t>(sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS)));
  }

  void clock() {
    half_cycle();
    clk_.write(true);
    half_cycle();
    clk_.write(false);
  }

  // Nothing may leave during reset, or a forgotten register would empty itself.
  void reset() {
    valid_.write(false);
    ready_.write(false);
    rst_n_.write(false);
    clock();
    clock();
    rst_n_.write(true);
  }

  void rehearse() {
    std::uint64_t index = 0;
    for (int cycle = 0; cycle < rehearsal_cycles; ++cycle) {
      stalls_.next_cycle(cycle);
      if (!pending_ && stalls_.offer(rehearsal_.input_rate())) {
        stimulus::Dice dice(options_.seed + 1, index);
        write_inputs(rehearsal_.stimulus(index++, dice));
        pending_ = true;
      }
      valid_.write(pending_);
      // Towards the end nothing is taken, so that something waits when the reset comes.
      ready_.write(!back_pressure_ || (cycle < rehearsal_cycles - 64 && stalls_.take()));
      half_cycle();
      if (stations_[0]->ready()) pending_ = false;
      clk_.write(true);
      half_cycle();
      clk_.write(false);
    }
    pending_ = false;
    valid_.write(false);
    ready_.write(false);
    // Reset is asynchronous: it shows before any clock edge. A foreign device may wait for the clock.
    rst_n_.write(false);
    half_cycle();
    compare_models();
  }

  void run() {
    reset();
    rehearse();
    if (!result.mismatch) reset();
    half_cycle();
    if (!result.mismatch && stations_[0]->valid())
      fail(*stations_[0], "an output is on offer right after reset", {});
    for (; !finished() && !result.mismatch; ++cycle_) {
      DeviceCall::at_cycle(cycle_);
      drive();
      half_cycle();
      dump();
      check();
      if (!result.mismatch && !taking_ && !stations_[0]->valid()) check_valid_comes_first();
      if (result.mismatch) break;
      clk_.write(true);
      half_cycle();
      dump();
      clk_.write(false);
      if (cycle_ % 65536 == 0) progress_(std::max(result.inputs, result.outputs), wanted_);
    }
    if (!options_.wave.empty()) device_.close_wave();
    result.cycles = cycle_;
    sc_core::sc_stop();
  }

  bool fed() const { return std::max(result.inputs, result.outputs) >= wanted_; }
  // All stimulus is in, all answers are out, and for a while nothing came that should not.
  bool finished() const { return settled_ >= 64; }

  void drive() {
    stalls_.next_cycle(cycle_);
    const bool waits = pending_;
    if (!pending_ && !fed() && (options_.exhaustive || stalls_.offer(reference_.input_rate()))) {
      if (options_.exhaustive) {
        current_ = reference_.exhaustive_stimulus(result.inputs);
      } else {
        stimulus::Dice dice(options_.seed, result.inputs);
        current_ = reference_.stimulus(result.inputs, dice);
      }
      write_inputs(current_);
      pending_ = true;
    }
    stimulus::Dice dice(~options_.seed, cycle_);
    if (!pending_) {
      idle_ = reference_.idle(dice);
      write_inputs(idle_);
    } else if (waits && reference_.offer_again(current_, dice)) {
      write_inputs(current_);
    }
    valid_.write(pending_);
    taking_ = !back_pressure_ || options_.exhaustive || fed() || stalls_.take();
    ready_.write(taking_);
  }

  void write_inputs(const Transaction& values) {
    for (std::size_t i = 0; i < values.size(); ++i) inputs_[i]->write(values[i]);
  }

  void check() {
    const Station& rtl = *stations_[0];
    const bool accepted = pending_ && rtl.ready();
    const bool given = rtl.valid() && taking_;
    const Transaction& inputs = pending_ ? current_ : idle_;
    if (accepted) {
      reference_.accept(current_);
      ++result.inputs;
      pending_ = false;
    }
    if (given) {
      ++result.outputs;
      check_golden(reference_.next());
      reference_.given(inputs);
    }
    if (!result.mismatch) compare_models();
    if (!result.mismatch) check_stability();
    quiet_ = accepted || given ? 0 : quiet_ + 1;
    unanswered_ = given || reference_.drained() ? 0 : unanswered_ + 1;
    settled_ = fed() && !pending_ && reference_.drained() ? settled_ + 1 : 0;
    if (!result.mismatch) check_progress();
  }

  void check_progress() {
    if (std::max(quiet_, unanswered_) < options_.hang_cycles) return;
    const std::optional<Expected> owed = reference_.next();  // the run is over: it need not keep this
    const std::string cycles = " for " + std::to_string(options_.hang_cycles) + " cycles: it hangs";
    fail(*stations_[0],
         (quiet_ >= options_.hang_cycles ? "no input taken and no output given" : "no output given") + cycles,
         owed ? owed->cause : current_);
  }

  // An offer must not wait for ready: with ready high, nothing else changed, none may appear.
  void check_valid_comes_first() {
    ready_.write(true);
    sc_core::wait(1, sc_core::SC_NS);
    if (stations_[0]->valid()) fail(*stations_[0], "valid_o waits for ready_i", current_);
    ready_.write(false);
    sc_core::wait(1, sc_core::SC_NS);
  }

  void check_golden(const std::optional<Expected>& expected) {
    for (std::size_t s = 0; s < compared_; ++s) {
      const Station* station = stations_[s].get();
      if (!expected) {
        fail(*station, "an output that the golden model does not give", current_);
        return;
      }
      for (std::size_t i = 0; i < station->outputs(); ++i) {
        if (station->output(i) == expected->outputs[i] || !diagnosis_.compared(*station, i)) continue;
        result.mismatch = diagnosis_.wrong_output(*station, i, *expected, cycle_);
        return;
      }
    }
    diagnosis_.right_answer(expected);
  }

  // To an output that waits to be taken: a combinational unit shows it before it takes its operands. The run
  // is over: the reference need not keep its answer.
  std::optional<Expected> answer_on_offer() {
    std::optional<Expected> owed = reference_.next();
    if (owed || !pending_) return owed;
    reference_.accept(current_);
    return reference_.next();
  }

  // Handshake in every cycle, data whenever valid.
  void compare_models() {
    if (compared_ < 2) return;
    const Station& rtl = *stations_[0];
    const Station& systemc = *stations_[1];
    if (rtl.ready() != systemc.ready()) {
      fail(systemc, "ready_o of SystemC and RTL differ", current_);
    } else if (rtl.valid() != systemc.valid()) {
      fail(systemc, "valid_o of SystemC and RTL differ", current_);
    } else if (rtl.valid() && rtl.snapshot() != systemc.snapshot()) {
      check_golden(answer_on_offer());
    }
  }

  // An output that was not taken must stay as it is.
  void check_stability() {
    const Station& rtl = *stations_[0];
    if (held_ && (!rtl.valid() || rtl.snapshot() != *held_)) {
      fail(rtl, "an output changed while it waited to be taken", current_);
    }
    held_.reset();
    if (rtl.valid() && !taking_) held_ = rtl.snapshot();
  }

  void fail(const Station& station, const std::string& what, const Transaction& cause) {
    result.mismatch = diagnosis_.failure(station, what, cause, cycle_);
  }

  Reference& reference_;
  Reference& rehearsal_;
  Device& device_;
  bool back_pressure_;
  LockstepOptions options_;
  ProgressReport progress_;
  Stalls stalls_;
  Diagnosis diagnosis_;
  std::uint64_t wanted_;

  sc_signal<bool> clk_{"clk"};
  sc_signal<bool> rst_n_{"rst_n"};
  sc_signal<bool> valid_{"valid"};
  sc_signal<bool> ready_{"ready"};
  std::vector<std::unique_ptr<sc_signal<Bits>>> inputs_;
  std::vector<std::unique_ptr<Station>> stations_;  // RTL first, then SystemC
  std::size_t compared_ = 1;                        // how many of them are compared

  std::uint64_t cycle_ = 0;
  std::uint64_t quiet_ = 0;       // cycles without a transfer
  std::uint64_t unanswered_ = 0;  // cycles without an output while one was owed
  std::uint64_t settled_ = 0;     // cycles in which nothing was owed or to come
  bool pending_ = false;          // current_ is offered and not yet taken
  bool taking_ = false;
  Transaction current_;
  Transaction idle_;  // the inputs of a cycle without one
  std::optional<Transaction> held_;
};

}  // namespace

LockstepResult run_lockstep(Reference& reference, Reference& rehearsal, UnitModule& systemc,
                            bool compare_systemc, RtlModule& rtl, Device& device, bool back_pressure,
                            const LockstepOptions& options, const ProgressReport& progress) {
  Bench bench(reference, rehearsal, systemc, compare_systemc, rtl, device, back_pressure, options, progress);
  // The end of a run is no news.
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  if (!options.wave.empty()) device.open_wave(options.wave);
  const auto start = std::chrono::steady_clock::now();
  sc_core::sc_start();
  bench.result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return bench.result;
}

}  // namespace mantissa::verify
