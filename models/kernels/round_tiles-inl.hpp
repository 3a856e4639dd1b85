// Register tiles of the rounded accumulators: how a group of products becomes one rounding. Once per SIMD
// target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_ROUND_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_ROUND_TILES_INL
#undef MANTISSA_KERNELS_ROUND_TILES_INL
#else
#define MANTISSA_KERNELS_ROUND_TILES_INL
#endif

#include <algorithm>

#include "models/kernels/round_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t tile_rows = 4;
#else
constexpr std::size_t tile_rows = 2;
#endif
constexpr std::size_t tile_vectors = 2;

template <class T>
HWY_INLINE std::size_t TileColumns() {
  return tile_vectors * hn::Lanes(hn::ScalableTag<T>());
}

// A register tile: tile_rows rows of A, one panel of B, `depth` steps of k.
template <class T>
struct Tile {
  const T* a;
  std::size_t a_stride;
  const T* b;             // [depth][tile columns]
  const T* random;        // per k, or null
  const T* group_random;  // per group, or null
  std::size_t depth;
  std::size_t group;
  T* acc;   // [tile_rows][tile columns], read and written
  T limit;  // magnitudes up to here are what the step can do
};

// Accumulators and the largest magnitude they ever had.
template <class T>
struct TileState {
  using D = hn::ScalableTag<T>;
  using V = hn::VFromD<D>;
  V acc[tile_rows][tile_vectors];
  V peak[tile_rows];

  HWY_INLINE void Load(const T* from) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < tile_rows; ++r) {
      peak[r] = hn::Zero(d);
#pragma GCC unroll 2
      for (std::size_t v = 0; v < tile_vectors; ++v)
        acc[r][v] = hn::LoadU(d, from + (r * tile_vectors + v) * lanes);
    }
  }
  // Only if nothing went past the limit (or is NaN); says which.
  HWY_INLINE bool StoreIfWithin(T limit, T* to) const {
    const D d;
    const V bound = hn::Set(d, limit);
    bool within = true;
    for (std::size_t r = 0; r < tile_rows; ++r) {
      within = within && hn::AllTrue(d, hn::Le(peak[r], bound));
      for (std::size_t v = 0; v < tile_vectors; ++v)
        within = within && hn::AllTrue(d, hn::Eq(acc[r][v], acc[r][v]));
    }
    if (within) Store(to);
    return within;
  }
  HWY_INLINE void Store(T* to) const {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t v = 0; v < tile_vectors; ++v)
        hn::StoreU(acc[r][v], d, to + (r * tile_vectors + v) * lanes);
    }
  }
};

template <class T>
HWY_INLINE VecOf<T> LoadRandom(const T* random, std::size_t index) {
  const hn::ScalableTag<T> d;
  return random == nullptr ? hn::Zero(d) : hn::LoadU(d, random + index);
}

// One rounding per product.
struct PlainTile {
  template <class S>
  static HWY_NOINLINE bool Run(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    TileState<T> state;
    state.Load(tile.acc);
    const T* HWY_RESTRICT b = tile.b;
    const T* random = S::stochastic ? tile.random : nullptr;
    for (std::size_t k = 0; k < tile.depth; ++k, b += tile_vectors * lanes) {
      const auto b0 = hn::Load(d, b);
      const auto b1 = hn::Load(d, b + lanes);
      const auto r0 = LoadRandom(random, k * tile_vectors * lanes);
      const auto r1 = LoadRandom(random, (k * tile_vectors + 1) * lanes);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) {
        const auto a = hn::Set(d, tile.a[r * tile.a_stride + k]);
        state.acc[r][0] = step(a, b0, state.acc[r][0], r0);
        state.acc[r][1] = step(a, b1, state.acc[r][1], r1);
        state.peak[r] = MaxMagnitude(MaxMagnitude(state.peak[r], state.acc[r][0]), state.acc[r][1]);
      }
    }
    return state.StoreIfWithin(tile.limit, tile.acc);
  }

  // With a step that handles everything there is nothing to watch.
  template <class S>
  static HWY_NOINLINE void RunUnwatched(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t v = 0; v < tile_vectors; ++v) {
        T* place = tile.acc + (r * tile_vectors + v) * lanes;
        auto acc = hn::LoadU(d, place);
        for (std::size_t k = 0; k < tile.depth; ++k) {
          const std::size_t column = (k * tile_vectors + v) * lanes;
          const auto random = LoadRandom(S::stochastic ? tile.random : nullptr, column);
          acc = step(hn::Set(d, tile.a[r * tile.a_stride + k]), hn::Load(d, tile.b + column), acc, random);
        }
        hn::StoreU(acc, d, place);
      }
    }
  }
};

// An inner accumulator from +0 over each group, then one rounded addition to the outer.
struct ChunkTile {
  template <class S>
  static HWY_NOINLINE bool Run(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t width = tile_vectors * lanes;
    TileState<T> outer;
    outer.Load(tile.acc);
    const auto one = hn::Set(d, T{1});
    for (std::size_t first = 0; first < tile.depth; first += tile.group) {
      const std::size_t end = std::min(first + tile.group, tile.depth);
      VecOf<T> inner[tile_rows][tile_vectors];
#pragma GCC unroll 4
      for (auto& row : inner) row[0] = row[1] = hn::Zero(d);
      for (std::size_t k = first; k < end; ++k) {
        const auto b0 = hn::Load(d, tile.b + k * width);
        const auto b1 = hn::Load(d, tile.b + k * width + lanes);
        const auto r0 = LoadRandom(S::stochastic ? tile.random : nullptr, k * width);
        const auto r1 = LoadRandom(S::stochastic ? tile.random : nullptr, k * width + lanes);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < tile_rows; ++r) {
          const auto a = hn::Set(d, tile.a[r * tile.a_stride + k]);
          inner[r][0] = step(a, b0, inner[r][0], r0);
          inner[r][1] = step(a, b1, inner[r][1], r1);
          outer.peak[r] = MaxMagnitude(MaxMagnitude(outer.peak[r], inner[r][0]), inner[r][1]);
        }
      }
      const std::size_t row = first / tile.group * width;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < tile_vectors; ++v) {
          const auto random = LoadRandom(S::stochastic ? tile.group_random : nullptr, row + v * lanes);
          outer.acc[r][v] = step(one, inner[r][v], outer.acc[r][v], random);
          outer.peak[r] = MaxMagnitude(outer.peak[r], outer.acc[r][v]);
        }
      }
    }
    return outer.StoreIfWithin(tile.limit, tile.acc);
  }
};

// An exact sum over each group (nothing is lost below the limit), rounded once.
struct FusedTile {
  template <class S>
  static HWY_NOINLINE bool Run(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t width = tile_vectors * lanes;
    TileState<T> state;
    state.Load(tile.acc);
    for (std::size_t first = 0; first < tile.depth; first += tile.group) {
      const std::size_t end = std::min(first + tile.group, tile.depth);
      for (std::size_t k = first; k < end; ++k) {
        const auto b0 = hn::Load(d, tile.b + k * width);
        const auto b1 = hn::Load(d, tile.b + k * width + lanes);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < tile_rows; ++r) {
          const auto a = hn::Set(d, tile.a[r * tile.a_stride + k]);
          state.acc[r][0] = hn::MulAdd(a, b0, state.acc[r][0]);
          state.acc[r][1] = hn::MulAdd(a, b1, state.acc[r][1]);
          state.peak[r] = MaxMagnitude(MaxMagnitude(state.peak[r], state.acc[r][0]), state.acc[r][1]);
        }
      }
      const std::size_t row = first / tile.group * width;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < tile_vectors; ++v) {
          const auto random = LoadRandom(S::stochastic ? tile.group_random : nullptr, row + v * lanes);
          state.acc[r][v] = step.Round(state.acc[r][v], random);
          state.peak[r] = MaxMagnitude(state.peak[r], state.acc[r][v]);
        }
      }
    }
    return state.StoreIfWithin(tile.limit, tile.acc);
  }
};

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
