// One step of a rounded accumulator on vectors, in the forms that the GEMM kernels use; once per SIMD target.
// (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_ROUND_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_ROUND_STEPS_INL
#undef MANTISSA_KERNELS_ROUND_STEPS_INL
#else
#define MANTISSA_KERNELS_ROUND_STEPS_INL
#endif

#include "models/kernels/round_lanes-inl.hpp"
#include "models/mac/accumulator.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// How acc + a*b is made before it is rounded.
enum class Sum {
  native,   // the lanes' own rounding does no harm: to nearest, p bits, product of at most p bits, p <= 11 in
            // float lanes (24 >= 2p + 2); or nothing is lost at all, in double lanes below the caller's limit
  odd,      // rounded to odd, for p <= 22 bits to nearest in float lanes
  to_zero,  // rounded toward zero, for rtz and sr
};

// acc' = round(acc + a*b), without looking at overflow, Inf or NaN: the caller watches magnitudes.
template <class Lane, Mode mode, Sum sum>
struct Step {
  using T = Lane;
  using V = VecOf<T>;
  static constexpr bool nearest = traits_of(mode).nearest;
  static constexpr bool stochastic = traits_of(mode).draws;
  // Without directed rounding, exact sums are rounded down by a shift that random numbers bring along.
  static constexpr bool shifts = !nearest && sum == Sum::native && !has_directed_rounding;
  Lattice<T> lattice;
  V below_half;

  explicit Step(const Accumulator& how)
      : lattice(how.format, how.rounding),
        below_half(hn::Set(hn::ScalableTag<T>(), Lattice<T>::JustBelowHalf(how.format.mantissa_bits))) {}

  // What a panel of random numbers has added to it.
  static T RandomShift(const Accumulator& how) {
    return shifts ? Lattice<T>::JustBelowHalf(how.format.mantissa_bits) : T{0};
  }

  HWY_INLINE V Round(V exact, V random) const {
    if constexpr (nearest) {
      (void)random;
      return lattice.template Nearest<mode>(exact);
    } else if constexpr (shifts) {
      return lattice.RoundDownExact(exact, stochastic ? random : below_half);
    } else if constexpr (stochastic) {
      return lattice.Stochastic(exact, random);
    } else {
      static_assert(mode == Mode::rtz);
      (void)random;
      return lattice.Truncate(exact);
    }
  }
  HWY_INLINE V Add(V a, V b, V acc) const {
    if constexpr (sum == Sum::odd) return OddMulAdd(a, b, acc);
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sum == Sum::to_zero) return DirectedMulAdd<to_zero>(a, b, acc);
#endif
    return hn::MulAdd(a, b, acc);
  }
  HWY_INLINE V operator()(V a, V b, V acc, V random) const { return Round(Add(a, b, acc), random); }
};

// FP32 rne in float lanes: the FMA is the accumulator. (MulAdd without fusion is the same, the product is
// exact.)
struct Fp32Step {
  using T = float;
  using V = VecOf<T>;
  static constexpr bool stochastic = false;
  static constexpr bool shifts = false;
  explicit Fp32Step(const Accumulator&) {}
  static T RandomShift(const Accumulator&) { return 0; }
  HWY_INLINE V operator()(V a, V b, V acc, V) const { return hn::MulAdd(a, b, acc); }
};

// The same result for any operands: double lanes rounded to odd first, Inf and NaN kept, overflow as ieee
// says.
template <Mode mode>
struct CarefulStep {
  using T = double;
  using V = VecOf<T>;
  static constexpr bool stochastic = traits_of(mode).draws;
  Step<double, mode, Sum::odd> step;

  explicit CarefulStep(const Accumulator& how) : step(how) {}

  HWY_INLINE V operator()(V a, V b, V acc, V random) const {
    const hn::ScalableTag<T> d;
    const V exact = step.Add(a, b, acc);
    const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
    const V beyond = traits_of(mode).stops_at_max ? step.lattice.largest : infinity;
    const V rounded = step.Round(exact, random);
    const V kept = hn::IfThenElse(hn::Gt(hn::Abs(rounded), step.lattice.largest),
                                  hn::CopySignToAbs(beyond, exact), rounded);
    return hn::IfThenElse(hn::Lt(hn::Abs(exact), infinity), kept, exact);
  }
};

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
