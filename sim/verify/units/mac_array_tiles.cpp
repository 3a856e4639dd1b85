#include "sim/verify/units/mac_array_tiles.hpp"

#include "sim/units/skip_window.hpp"

namespace mantissa::verify {
namespace {

// Half of them none, a quarter of the size of the sums, a quarter anything.
std::uint32_t bias_of(stimulus::Dice& dice) {
  if (dice.below(2) == 0) return 0;
  if (dice.below(2) == 0) return stimulus::random_code_near(dice, formats::fp32, 2, 8);
  return stimulus::random_code(dice, formats::fp32);
}

std::uint64_t scale_of(stimulus::Dice& dice) {
  return dice.below(4) == 0 ? dice.bits(8) : static_cast<std::uint64_t>(dice.between(-8, 8));
}

}  // namespace

TilePlan::TilePlan(const MacArray& array, std::uint64_t number, stimulus::Dice& dice)
    : array_(array), cut_(array.skip_window, array.cols, number, dice), codes_(dice) {
  load_ = number == 0 || dice.below(8) == 0;
  if (number < 1 || number > 3) return;
  // Sums at the two ends of the range, with a bias that meets the upper one.
  only_a_ = number == 3 ? 1 : array.a.max_code();
  only_b_ = number == 3 ? 1 : array.b.max_code();
  const SkipWindow& window = array.skip_window;
  cut_.fill(number == 3 ? 1 : window.window * (number == 2 ? window.depth + 2 : 1));
}

TilePlan TilePlan::dense(const MacArray& array, int k, stimulus::Dice& dice) {
  TilePlan plan(array, 0, dice);
  plan.cut_.fill(k);
  plan.cut_.skip = false;
  plan.cut_.density = 8;
  plan.codes_.specials = false;
  return plan;
}

Transaction TilePlan::beat(stimulus::Dice& dice) {
  const TileCut::Beat cut = cut_.next();
  const Bits a_bits = matrix(dice, cut.slices, array_.rows(), cut_.rows, array_.a, cut_.density, only_a_);
  const Bits b_bits = matrix(dice, cut.slices, array_.cols, cut_.cols, array_.b, 8, only_b_);
  // drain_i, bias and scale count in the last beat of a step only; seeds only with load_i.
  Transaction beat = {a_bits,
                      b_bits,
                      Bits(slice_count_bits(array_.skip_window), cut.slices),
                      Bits(array_.rows(), (std::uint64_t{1} << cut_.rows) - 1),
                      Bits(1, cut_.skip ? 1 : 0),
                      Bits(1, cut.ends_step ? 1 : 0),
                      Bits(1, cut.ends_step ? (cut.ends_tile ? 1 : 0) : dice.bits(1)),
                      biases(dice),
                      Bits(8, scale_of(dice) & 0xFF),
                      Bits(1, load_ ? 1 : 0),
                      seeds(dice)};
  load_ = false;
  return beat;
}

Bits TilePlan::matrix(stimulus::Dice& dice, int slices, int elements, int in_use, const Format& format,
                      std::uint64_t density, std::uint32_t only) const {
  const int port = array_.skip_window.port;
  Bits bits(port * elements * format.bits());
  for (int i = 0; i < port * elements; ++i) {
    // Unused rows and columns are zeros; beyond the last slice nothing is looked at.
    std::uint32_t code = codes_.code(dice, format, density);
    if (only != 0) code = only | (i % 2 == 0 ? 0 : format.sign_bit());
    if (i / elements < slices && i % elements >= in_use) code = 0;
    bits.set_field(i * format.bits(), format.bits(), code);
  }
  return bits;
}

Bits TilePlan::biases(stimulus::Dice& dice) const {
  Bits bits(32 * array_.cols);
  for (int col = 0; col < array_.cols; ++col) {
    bits.set_field(32 * col, 32, only_a_ == 0 || col % 2 != 0 ? bias_of(dice) : formats::fp32.max_code());
  }
  return bits;
}

Bits TilePlan::seeds(stimulus::Dice& dice) const {
  Bits bits(32 * array_.cols);
  for (int col = 0; col < array_.cols; ++col) {
    bits.set_field(32 * col, 32, dice.below(16) == 0 ? 0 : dice.bits(32));
  }
  return bits;
}

}  // namespace mantissa::verify
