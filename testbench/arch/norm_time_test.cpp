// How long a batch norm unit takes for a channel at full rate: the SystemC units against the closed form.
// Lockstep shows that the RTL takes the same cycles as these.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "models/format/convert.hpp"
#include "sim/arch/norm_cycles.hpp"
#include "sim/units/unit_makers.hpp"
#include "sim/units/unit_module.hpp"

namespace mantissa {
namespace {

using sc_core::sc_signal;

// Offers one channel twice, without a pause and with room for all results.
class Driver : public sc_core::sc_module {
 public:
  Driver(const sc_core::sc_module_name& name, UnitMaker* make_unit, int elements, int chunks)
      : sc_module(name), elements_(elements), chunks_(chunks), unit_(make_unit("unit", {{"IndexBits", 20}})) {
    unit_->clk_i.bind(clk_);
    unit_->rst_ni.bind(rst_n_);
    unit_->valid_i.bind(valid_);
    unit_->ready_i.bind(ready_);
    unit_->ready_o.bind(unit_ready_);
    unit_->valid_o.bind(unit_valid_);
    for (DataIn* port : unit_->inputs()) port->bind(*inputs_.emplace_back(signal(port->width())));
    for (DataOut* port : unit_->outputs()) port->bind(*outputs_.emplace_back(signal(port->width())));
    SC_HAS_PROCESS(Driver);
    SC_THREAD(run);
  }

  int elements() const { return elements_; }
  std::string what() const { return std::to_string(elements_) + " in " + std::to_string(chunks_); }
  std::uint64_t cycles = 0;  // from the first element in to the last result out
  int results = 0;

 private:
  static std::unique_ptr<sc_signal<Bits>> signal(int width) {
    return std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("data"), Bits(width));
  }
  void put(const std::string& port, std::uint64_t value) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (std::string(unit_->inputs()[i]->basename()) == port) {
        inputs_[i]->write(Bits(unit_->inputs()[i]->width(), value));
      }
    }
  }
  bool last() const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (std::string(unit_->outputs()[i]->basename()) == "last_o") return outputs_[i]->read().value() != 0;
    }
    return false;
  }
  void tick() {
    sc_core::wait(1, sc_core::SC_NS);
    clk_.write(true);
    sc_core::wait(1, sc_core::SC_NS);
    clk_.write(false);
  }

  void run() {
    tick();
    rst_n_.write(true);
    ready_.write(true);
    put("mode_i", 3);
    put("count_i", elements_);
    put("chunk_length_i", elements_ / chunks_);
    for (const char* one : {"reciprocal_count_i", "reciprocal_chunks_i", "constant_i", "gamma_i", "inv_i"}) {
      put(one, 0x3F800000);
    }
    int taken = 0;
    for (bool out = false; !out && cycles < 100000; ++cycles) {
      valid_.write(taken < 2 * elements_);
      put("x_i", fp32_bits(static_cast<float>(taken % elements_)));
      put("g_i", fp32_bits(1.0F));
      sc_core::wait(1, sc_core::SC_NS);
      if (valid_.read() && unit_ready_.read()) ++taken;
      if (unit_valid_.read()) {
        ++results;
        out = last();
      }
      tick();
    }
  }

  int elements_;
  int chunks_;
  std::unique_ptr<UnitModule> unit_;
  sc_signal<bool> clk_;
  sc_signal<bool> rst_n_;
  sc_signal<bool> valid_;
  sc_signal<bool> ready_;
  sc_signal<bool> unit_ready_;
  sc_signal<bool> unit_valid_;
  std::vector<std::unique_ptr<sc_signal<Bits>>> inputs_;
  std::vector<std::unique_ptr<sc_signal<Bits>>> outputs_;
};

std::uint64_t time_of(int elements, const NormUnitTime& unit) {
  return 2 * static_cast<std::uint64_t>(elements) + unit.pause + unit.latency;
}

// All units in one test: the SystemC kernel elaborates once per process.
TEST(NormTime, OfOneChannelAsTheClosedForm) {
  std::vector<std::unique_ptr<Driver>> forward;
  std::vector<std::unique_ptr<Driver>> backward;
  for (const auto& [elements, chunks] :
       {std::pair(2, 1), std::pair(3, 1), std::pair(4, 2), std::pair(12, 1), std::pair(12, 6),
        std::pair(100, 1), std::pair(100, 50), std::pair(784, 16)}) {
    forward.push_back(std::make_unique<Driver>(sc_core::sc_gen_unique_name("forward"), make_range_bn_forward,
                                               elements, chunks));
    backward.push_back(std::make_unique<Driver>(sc_core::sc_gen_unique_name("backward"),
                                                make_range_bn_backward, elements, chunks));
    ASSERT_EQ(elements % chunks, 0);
  }
  sc_core::sc_start();
  for (const auto& unit : forward) {
    EXPECT_EQ(unit->cycles, time_of(unit->elements(), range_bn_forward_time)) << unit->what();
    EXPECT_GT(unit->results, unit->elements());
  }
  for (const auto& unit : backward) {
    EXPECT_EQ(unit->cycles, time_of(unit->elements(), range_bn_backward_time)) << unit->what();
    EXPECT_GT(unit->results, unit->elements());
  }
}

}  // namespace
}  // namespace mantissa
