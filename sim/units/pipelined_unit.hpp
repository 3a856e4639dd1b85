// A unit whose transactions pass through stages in order, with valid/ready registers after some of them: the
// timing of rtl/pipe_reg.sv around the golden model's own functions. No register at all makes it
// combinational.
#pragma once

#include <functional>
#include <utility>

#include "sim/units/unit_module.hpp"

namespace mantissa {

// State is what a transaction carries from stage to stage.
template <class State>
class PipelinedUnit : public UnitModule {
 public:
  std::vector<std::string> stages() const override {
    std::vector<std::string> names;
    for (const Stage& stage : stages_) names.push_back(stage.name);
    return names;
  }

  void corrupt(std::string_view name) override {
    for (Stage& stage : stages_) {
      if (stage.name == name) {
        stage.run = [run = stage.run, flip = stage.flip](State& state) {
          run(state);
          flip(state);
        };
        return;
      }
    }
    throw std::invalid_argument("no stage " + std::string(name));
  }

 protected:
  struct Stage {
    std::string name;
    std::function<void(State&)> run;
    std::function<void(State&)> flip;  // makes one bit of the stage's result wrong
    bool registered = false;           // a register follows
  };

  PipelinedUnit(const sc_core::sc_module_name& name, std::vector<Stage> stages)
      : UnitModule(name), stages_(std::move(stages)) {
    for (const Stage& stage : stages_) {
      if (stage.registered) registers_.emplace_back();
    }
    incoming_.resize(registers_.size());
    ready_.resize(registers_.size() + 1);
  }

  // Of a transaction on the inputs, and onto the outputs.
  virtual void load(State& state) const = 0;
  virtual void store(const State& state) = 0;
  // A transaction on the outputs was taken: for units that remember something of it.
  virtual void taken(const State& /*state*/) {}
  virtual void reset() {}

  // Here and not in the constructor: the ports of the derived class exist only now.
  void before_end_of_elaboration() override {
    SC_HAS_PROCESS(PipelinedUnit);
    SC_METHOD(advance);
    sensitive << clk_i.pos() << rst_ni.neg();
    dont_initialize();
    SC_METHOD(evaluate);
    sensitive << valid_i << ready_i << moved_;
    for (DataIn* port : inputs()) sensitive << *port;
  }

 private:
  struct Register {
    bool valid = false;
    State state{};
  };

  // Everything combinational: each segment between registers, and the ready chain backwards.
  void evaluate() {
    const std::size_t last = registers_.size();
    ready_[last] = ready_i.read();
    for (std::size_t i = last; i-- > 0;) ready_[i] = ready_[i + 1] || !registers_[i].valid;
    ready_o.write(ready_[0]);
    valid_o.write(last == 0 ? valid_i.read() : registers_.back().valid);

    State state{};
    std::size_t next = 0;  // register that the segment ends in
    bool live = valid_i.read();
    if (live) load(state);
    for (const Stage& stage : stages_) {
      if (live) stage.run(state);
      if (stage.registered) {
        incoming_[next] = {live, std::move(state)};
        live = registers_[next].valid;
        state = registers_[next].state;
        ++next;
      }
    }
    outgoing_ = {live, std::move(state)};
    if (live) store(outgoing_.state);
  }

  void advance() {
    if (!rst_ni.read()) {
      for (Register& reg : registers_) reg = {};
      reset();
    } else {
      if (outgoing_.valid && ready_.back()) taken(outgoing_.state);
      for (std::size_t i = 0; i < registers_.size(); ++i) {
        if (!ready_[i]) continue;
        registers_[i].valid = incoming_[i].valid;
        if (incoming_[i].valid) registers_[i].state = incoming_[i].state;
      }
    }
    moved_.notify(sc_core::SC_ZERO_TIME);
  }

  std::vector<Stage> stages_;
  std::vector<Register> registers_;
  std::vector<Register> incoming_;  // what each register takes at the next edge
  Register outgoing_;               // what stands on the outputs
  std::vector<bool> ready_;
  sc_core::sc_event moved_;
};

}  // namespace mantissa
