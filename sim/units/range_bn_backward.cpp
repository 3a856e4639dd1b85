// range_bn_backward in SystemC: collects a channel, asks the golden model for its sums, and gives the
// gradients of the second pass one by one.
#include "models/mac/arithmetic.hpp"
#include "models/norm/range_bn.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class RangeBnBackward : public ClockedUnit {
 public:
  RangeBnBackward(const sc_core::sc_module_name& name, int index_bits)
      : ClockedUnit(name), index_bits_(index_bits) {}

  std::vector<std::string> stages() const override { return {"sums", "dx"}; }

 private:
  // h, centred, scaled, products: a register after each; the last one is behind the sums.
  static constexpr int registers_of_elements = 4;
  static constexpr int registers_of_results = 1;
  // Between the last sum and the results: mh and ds, * C, * 1/k.
  static constexpr int correction_cycles = 3;

  struct Result {
    bool gradients = false;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool last = false;
  };
  // An element in the pipeline; one of pass 1 ends in the sums.
  struct Element {
    bool scan = false;
    Result result;
  };
  enum class Phase : std::uint8_t { scan, drain, steps, apply };

  bool at_end() const { return index_ + 1 == count_i_.value(); }
  bool scanning() const { return phase_ == Phase::scan && given_i_.value() == 0; }
  bool streaming() const { return phase_ == Phase::scan || phase_ == Phase::apply; }
  bool sums_done() const { return phase_ == Phase::steps && wait_ == 0; }
  std::uint32_t flip(std::string_view stage) const { return corrupted(stage) ? 1 : 0; }

  // What the last stage of the pipeline does with its element.
  bool element_leaves(const std::optional<Element>& element) const {
    return element && (element->scan || results_.ready(ready_i.read()));
  }

  RangeBnCorrection correction() const {
    if (given_i_.value() != 0) return {mean_h_i_.number(), shift_i_.number()};
    return correction_;
  }

  Element entering() const {
    if (scanning()) return {.scan = true, .result = {.last = at_end()}};
    const RangeBnCorrection given = correction();
    float dx = range_bn_input_gradient(g_i_.number(), gamma_i_.number(), inv_i_.number(), given);
    if (argmax_i_.value() != argmin_i_.value()) {
      if (index_ == argmax_i_.value()) dx = f32::add(dx, given.t);
      if (index_ == argmin_i_.value()) dx = f32::sub(dx, given.t);
    }
    return {.scan = false, .result = {.first = fp32_bits(dx) ^ flip("dx"), .last = at_end()}};
  }

  void finish_pass_1() {
    RangeBnRegisters registers;
    registers.reciprocal_n = reciprocal_count_i_.number();
    registers.reciprocal_chunks = reciprocal_chunks_i_.number();
    registers.constant = constant_i_.number();
    sums_ = gradient_sums(x_, g_, gamma_i_.number(), mean_i_.number(), inv_i_.number());
    correction_ = range_bn_correction(sums_, inv_i_.number(), registers);
    x_.clear();
    g_.clear();
  }

  void evaluate() override {
    const bool room = elements_.ready(element_leaves(elements_.front(std::nullopt)));
    switch (phase_) {
      case Phase::scan:
        ready_o.write(room && (!scanning() || !at_end()));
        break;
      case Phase::apply:
        ready_o.write(room);
        break;
      case Phase::drain:
      case Phase::steps:
        ready_o.write(sums_done() && results_.ready(ready_i.read()));
        break;
    }
    const std::optional<Result> front = results_.front(std::nullopt);
    valid_o.write(front.has_value());
    if (!front) return;
    gradients_o_.put(front->gradients ? 1 : 0);
    first_o_.put(front->first);
    second_o_.put(front->second);
    last_o_.put(front->last ? 1 : 0);
  }

  void advance() override {
    const std::optional<Element> leaving = elements_.front(std::nullopt);
    const bool leaves = element_leaves(leaving);
    const bool room = elements_.ready(leaves);
    const bool enters = streaming() && valid_i.read();
    const std::optional<Element> incoming = enters ? std::optional(entering()) : std::nullopt;

    std::optional<Result> result;
    if (leaving && !leaving->scan) result = leaving->result;
    if (sums_done()) {
      result = Result{true, fp32_bits(sums_.g_xhat) ^ flip("sums"), fp32_bits(sums_.g)};
      if (results_.ready(ready_i.read())) phase_ = Phase::apply;
    }
    if (phase_ == Phase::steps && wait_ > 0) --wait_;
    if (phase_ == Phase::drain && leaving && leaving->scan && leaving->result.last) {
      phase_ = Phase::steps;
      wait_ = correction_cycles;
    }
    if (enters && room) {
      const bool end = at_end();
      const bool scan = scanning();
      if (scan) {
        x_.push_back(x_i_.number());
        g_.push_back(g_i_.number());
        if (end) finish_pass_1();
      }
      if (end) phase_ = scan ? Phase::drain : Phase::scan;
      index_ = end ? 0 : index_ + 1;
    }
    elements_.advance(incoming, leaves);
    results_.advance(result, ready_i.read());
  }

  void reset() override {
    phase_ = Phase::scan;
    index_ = 0;
    x_.clear();
    g_.clear();
    elements_.reset();
    results_.reset();
  }

  int index_bits_;
  DataIn x_i_{*this, "x_i", 32};
  DataIn g_i_{*this, "g_i", 32};
  DataIn argmax_i_{*this, "argmax_i", index_bits_};
  DataIn argmin_i_{*this, "argmin_i", index_bits_};
  DataIn count_i_{*this, "count_i", index_bits_};
  DataIn reciprocal_count_i_{*this, "reciprocal_count_i", 32};
  DataIn reciprocal_chunks_i_{*this, "reciprocal_chunks_i", 32};
  DataIn constant_i_{*this, "constant_i", 32};
  DataIn gamma_i_{*this, "gamma_i", 32};
  DataIn mean_i_{*this, "mean_i", 32};
  DataIn inv_i_{*this, "inv_i", 32};
  DataIn given_i_{*this, "given_i", 1};
  DataIn mean_h_i_{*this, "mean_h_i", 32};
  DataIn shift_i_{*this, "shift_i", 32};
  DataOut gradients_o_{*this, "gradients_o", 1};
  DataOut first_o_{*this, "first_o", 32};
  DataOut second_o_{*this, "second_o", 32};
  DataOut last_o_{*this, "last_o", 1};

  Phase phase_ = Phase::scan;
  std::uint64_t index_ = 0;  // of the next element
  std::vector<float> x_;     // what pass 1 has seen
  std::vector<float> g_;
  int wait_ = 0;  // cycles until mh and t are there
  GradientSums sums_;
  RangeBnCorrection correction_;
  ResultPipe<Element> elements_{registers_of_elements};
  ResultPipe<Result> results_{registers_of_results};
};

}  // namespace

std::unique_ptr<UnitModule> make_range_bn_backward(const char* name, const UnitParameters& parameters) {
  return std::make_unique<RangeBnBackward>(name, parameters.at("IndexBits"));
}

}  // namespace mantissa
