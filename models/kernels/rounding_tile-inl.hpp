// What a rounded accumulator does to a register tile, behind one virtual call: the loops of the GEMM around
// it are compiled for each type of lane, not for each kind and rounding of an accumulator. Once per SIMD
// target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_ROUNDING_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_ROUNDING_TILE_INL
#undef MANTISSA_KERNELS_ROUNDING_TILE_INL
#else
#define MANTISSA_KERNELS_ROUNDING_TILE_INL
#endif

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/round_tiles-inl.hpp"
#include "models/mac/gemm.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

template <class T>
class TileRunner {
 public:
  const bool per_product;  // every product takes a random number
  const bool per_group;    // every group takes one
  const T random_shift;    // what random numbers have added to them
  const T limit;           // magnitudes up to which Run is right

  // False: magnitudes left the range, and the sums are as they were.
  virtual bool Run(const Tile<T>& tile) const = 0;

 protected:
  TileRunner(bool product, bool group, T shift, T largest)
      : per_product(product), per_group(group), random_shift(shift), limit(largest) {}
  ~TileRunner() = default;
};

// Magnitudes up to which a step is right.
template <class S>
typename S::T SafeLimit(const GemmOperands& op, const Format& format) {
  using T = typename S::T;
  double limit = to_double(format.max_code(), format);
  if constexpr (std::is_same_v<T, float>) {
    // Lattice::nearest times the binade must stay finite.
    if (format != formats::fp32) limit = std::min(limit, std::ldexp(1.0, 102 + format.mantissa_bits));
  } else {
    // Every sum is a multiple of the smallest product: below 2^53 of them, doubles lose nothing; four bits
    // are to spare where RoundDownExact wants them.
    const int smallest_product = op.a_format.min_quantum() + op.b_format.min_quantum();
    limit = std::min(limit, std::ldexp(1.0, smallest_product + (S::shifts ? 48 : 52)));
  }
  return static_cast<T>(limit);
}

// Redoes a block of a plain accumulator whose magnitudes left the fast step's range: in double lanes, which
// for float tiles hold half a panel at a time. `shift` is what the fast step's random numbers had added to
// them.
template <Mode mode, class T>
void RunCarefully(const CarefulStep<mode>& step, const Tile<T>& tile, T shift) {
  const std::size_t width = TileColumns<T>();
  const std::size_t part = TileColumns<double>();
  std::vector<double> a(tile_rows * tile.depth);
  AlignedBuffer<double> b(tile.depth * part);
  AlignedBuffer<double> random(tile.depth * part);
  AlignedBuffer<double> acc(tile_rows * part);
  for (std::size_t r = 0; r < tile_rows; ++r) {
    for (std::size_t k = 0; k < tile.depth; ++k) a[r * tile.depth + k] = tile.a[r * tile.a_stride + k];
  }
  for (std::size_t j = 0; j < width; j += part) {
    for (std::size_t k = 0; k < tile.depth; ++k) {
      for (std::size_t i = 0; i < part; ++i) {
        b.data()[k * part + i] = tile.b[k * width + j + i];
        random.data()[k * part + i] = tile.random == nullptr ? 0.0 : tile.random[k * width + j + i] - shift;
      }
    }
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t i = 0; i < part; ++i) acc.data()[r * part + i] = tile.acc[r * width + j + i];
    }
    PlainTile::RunUnwatched(step, Tile<double>{a.data(), tile.depth, b.data(), random.data(), nullptr,
                                               tile.depth, tile.group, acc.data(), 0});
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t i = 0; i < part; ++i)
        tile.acc[r * width + j + i] = static_cast<T>(acc.data()[r * part + i]);
    }
  }
}

template <class Shape, class S, Mode mode>
class RoundingTile final : public TileRunner<typename S::T> {
 public:
  using T = typename S::T;

  RoundingTile(const GemmOperands& op, const Accumulator& how)
      : TileRunner<T>(S::stochastic && !std::is_same_v<Shape, FusedTile>,
                      S::stochastic && !std::is_same_v<Shape, PlainTile>, S::RandomShift(how),
                      SafeLimit<S>(op, how.format)),
        step_(how),
        how_(how) {}

  bool Run(const Tile<T>& tile) const override {
    if (Shape::Run(step_, tile)) return true;
    if constexpr (std::is_same_v<Shape, PlainTile>) {
      RunCarefully(CarefulStep<mode>(how_), tile, this->random_shift);
      return true;
    }
    return false;
  }

 private:
  S step_;
  const Accumulator& how_;
};

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
