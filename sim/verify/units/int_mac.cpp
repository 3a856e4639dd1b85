// int_mac: sums on both sides of 2^AccBits, and what overflow_o remembers.

#include "models/mac/int_mac.hpp"

#include <algorithm>

#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

class IntMacReference : public Reference {
 public:
  explicit IntMacReference(const UnitParameters& parameters)
      : b_bits_(parameters.at("BWidth")),
        acc_bits_(parameters.at("AccBits")),
        limit_(std::uint64_t{1} << acc_bits_) {
    for (const char* clear : {"kept", "cleared"}) {
      for (const char* before : {"none before", "wrapped before"}) {
        for (const char* now : {"fits", "wraps"}) {
          overflow_.push_back(
              coverage_.declare(std::string("overflow ") + clear + ", " + before + ", sum " + now));
        }
      }
    }
  }

  Transaction stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    const std::uint64_t a = dice.below(8) == 0 ? 0xFF : dice.bits(8);
    const std::uint64_t b = dice.below(8) == 0 ? (1U << b_bits_) - 1 : dice.bits(b_bits_);
    return {Bits(1, dice.below(4) == 0 ? 1 : 0), Bits(8, a), Bits(b_bits_, b),
            Bits(acc_bits_, acc(dice, a * b))};
  }

  void accept(const Transaction& inputs) override {
    const bool clear = inputs[0].value() != 0;
    const WrappedSum sum = sum_of(inputs);
    coverage_.hit(overflow_[(clear ? 4 : 0) + (sticky_ ? 2 : 0) + (sum.wrapped ? 1 : 0)]);
    coverage_.hit_if(!sum.wrapped && sum.acc == limit_ - 1, last_);
    coverage_.hit_if(sum.wrapped && sum.acc == 0, first_);
    coverage_.hit_if(inputs[1].value() == 0xFF && inputs[2].value() == (1U << b_bits_) - 1, largest_);
    sticky_ = sum.wrapped || (sticky_ && !clear);
    expect({Bits(acc_bits_, sum.acc), Bits(1, sticky_ ? 1 : 0)}, inputs);
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    const WrappedSum sum = sum_of(cause);
    return {"clear: " + cause[0].hex(), "a: " + described_value(cause[1], {}),
            "b: " + described_value(cause[2], {}), "acc: " + described_value(cause[3], {}),
            "golden acc: " + described_value(Bits(acc_bits_, sum.acc), {}) + (sum.wrapped ? ", wraps" : "")};
  }

 private:
  // Anywhere, of any magnitude, or such that the sum is near the limit.
  std::uint64_t acc(stimulus::Dice& dice, std::uint64_t product) const {
    switch (dice.below(4)) {
      case 0:
        return dice.next() % limit_;
      case 1:
        return dice.next() % limit_ >> dice.below(acc_bits_);
      case 2:
        return (limit_ - product - dice.below(2)) % limit_;
      default:
        return limit_ - 1 - dice.below(std::min(2 * product + 1, limit_));
    }
  }

  WrappedSum sum_of(const Transaction& inputs) const {
    return int_mac_wrapping(static_cast<std::uint32_t>(inputs[1].value()),
                            static_cast<std::uint32_t>(inputs[2].value()), inputs[3].value(), b_bits_,
                            acc_bits_);
  }

  int b_bits_;
  int acc_bits_;
  std::uint64_t limit_;
  int last_ = coverage_.declare("sum 2^AccBits - 1");
  int first_ = coverage_.declare("sum 2^AccBits");
  int largest_ = coverage_.declare("largest product");
  std::vector<int> overflow_;  // cleared x wrapped before x wraps now
  bool sticky_ = false;
};

}  // namespace

UnitKind int_mac_kind() {
  return {
      .name = "int_mac",
      .module = "int_mac",
      .what = "acc + a*b, unsigned, modulo 2^AccBits, with a sticky overflow flag",
      .section = "4",
      .latency = "PipeStages",
      .parameters = {{"BWidth", 8, "bits of b: 8 or 16"},
                     {"AccBits", 48, "bits of the sum: a product's to 48"},
                     {"PipeStages", 0, "0 or 1 register, after the product"}},
      .ports = {{"clear_i", "1", "forget what wrapped before this operation"},
                {"a_i", "8", "factor"},
                {"b_i", "BWidth", "factor"},
                {"acc_i", "AccBits", "accumulator"},
                {"acc_o", "AccBits", "acc_i + a_i*b_i modulo 2^AccBits"},
                {"overflow_o", "1", "this sum or one since the last clear_i wrapped"}},
      .configurations = {{"8 x 8", {}},
                         {"8 x 16, 1 stage", {{"BWidth", 16}, {"PipeStages", 1}}},
                         {"8 x 8, 17-bit sums", {{"AccBits", 17}}}},
      .systemc = make_int_mac,
      .reference = [](const UnitParameters& p) { return std::make_unique<IntMacReference>(p); },
  };
}

}  // namespace mantissa::verify
