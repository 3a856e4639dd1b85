#include "models/kernels/prune.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"
#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/draw_stream.hpp"
#include "models/kernels/prefetch.hpp"
#include "models/parallel/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/prune.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::VFromD<D>;

// share * tau - magnitude, rounded once: its sign is that of the exact difference.
HWY_INLINE V Residual(V share, V tau, V magnitude) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(D(), std::fma(share.raw, tau.raw, -magnitude.raw));  // Highway's own is not fused here
#else
  return hn::MulSub(share, tau, magnitude);
#endif
}

// Bits of a mask into byte i / 8 onward; vectors of fewer than eight lanes share a byte.
HWY_INLINE void StoreBits(hn::Mask<D> mask, std::size_t i, std::uint8_t* bits) {
  const D d;
  std::uint8_t packed[8] = {};
  hn::StoreMaskBits(d, mask, packed);
  if (hn::Lanes(d) >= 8) {
    std::memcpy(bits + i / 8, packed, hn::Lanes(d) / 8);
  } else {
    if (i % 8 == 0) bits[i / 8] = 0;
    bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (packed[0] << (i % 8)));
  }
}

// Up iff |g| * 2^r >= (2^r - R) * tau, that is |g| >= (1 - R / 2^r) * tau: no division. count is a multiple
// of lanes.
void PruneRow(const float* g, float tau, int random_bits, const std::uint32_t* draw, float* out,
              std::uint8_t* nonzero, std::size_t count, PruneCounts* counts) {
  const D d;
  const DI di;
  const std::size_t lanes = hn::Lanes(d);
  const V threshold = hn::Set(d, tau);
  const auto threshold_bits = hn::BitCast(di, threshold);
  const auto random_mask = hn::Set(di, static_cast<std::int32_t>((1U << random_bits) - 1));
  const auto all = hn::Set(di, static_cast<std::int32_t>(1U << random_bits));
  const V unit = hn::Set(d, std::ldexp(1.0F, -random_bits));
  for (std::size_t i = 0; i < count; i += lanes) {
    prefetch_next_page(g + i);
    const V x = hn::LoadU(d, g + i);
    const V magnitude = hn::Abs(x);
    const auto zero_in = hn::Eq(x, hn::Zero(d));
    // Magnitudes compare as integers, so Inf and NaN pass.
    const auto below = hn::RebindMask(d, hn::Lt(hn::BitCast(di, magnitude), threshold_bits));
    const auto r = hn::And(hn::LoadU(di, reinterpret_cast<const std::int32_t*>(draw + i)), random_mask);
    const V share = hn::Mul(hn::ConvertTo(d, hn::Sub(all, r)), unit);
    const auto up = hn::Le(Residual(share, threshold, magnitude), hn::Zero(d));
    const V snapped = hn::IfThenElseZero(up, hn::CopySignToAbs(threshold, x));
    const V result = hn::IfThenZeroElse(zero_in, hn::IfThenElse(below, snapped, x));
    hn::StoreU(result, d, out + i);
    const auto pruned = hn::AndNot(zero_in, below);
    counts->zeros_in += hn::CountTrue(d, zero_in);
    counts->snapped += hn::CountTrue(d, hn::And(pruned, up));
    counts->zeros_made += hn::CountTrue(d, hn::AndNot(up, pruned));
    if (nonzero != nullptr) StoreBits(hn::Not(hn::Or(zero_in, hn::AndNot(up, pruned))), i, nonzero);
  }
}

std::uint64_t NonzeroRow(const std::uint8_t* code, std::uint8_t magnitude_mask, std::uint8_t nan,
                         std::uint8_t* bits, std::size_t count) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t found = 0;
  std::size_t i = 0;
  if (lanes >= 8) {
    const auto mask = hn::Set(d, magnitude_mask);
    const auto nans = hn::Set(d, nan);
    for (; i + lanes <= count; i += lanes) {
      const auto v = hn::LoadU(d, code + i);
      const auto set = hn::Or(hn::Ne(hn::And(v, mask), hn::Zero(d)), hn::Eq(v, nans));
      hn::StoreMaskBits(d, set, bits + i / 8);
      found += hn::CountTrue(d, set);
    }
  }
  std::fill(bits + i / 8, bits + (count + 7) / 8, std::uint8_t{0});
  for (; i < count; ++i) {
    if ((code[i] & magnitude_mask) == 0 && code[i] != nan) continue;
    bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << (i % 8)));
    ++found;
  }
  return found;
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(PruneRow);
HWY_EXPORT(NonzeroRow);

// Random numbers are made and used a block at a time: some 4096 elements, whole draws of every lane, whole
// vectors and whole mask bytes.
std::int64_t block_elements(const DrawSource& draws) {
  const std::int64_t unit = std::lcm(std::max<std::int64_t>(draws.lanes, 1), std::int64_t{64});
  std::int64_t block = unit;
  while (block < 4096) block += unit;
  return block;
}

// Blocks of more lanes would be too large.
constexpr int max_lanes = 1 << 16;

// The share (2^r - R) / 2^r is an FP32 number, and the residual of Residual() does not underflow.
bool vectorised(const Pruner& pruner, const DrawSource& draws) {
  return pruner.format == formats::fp32 && pruner.random_bits <= 23 && draws.lanes <= max_lanes &&
         (pruner.tau == 0 || (pruner.tau & 0x7FFFFFFFU) >= fp32_bits(0x1p-100F));
}

void prune_range(std::span<const float> g, const Pruner& pruner, const DrawSource& draws,
                 std::span<float> out, std::span<std::uint8_t> nonzero, std::int64_t begin, std::int64_t end,
                 PruneCounts& counts) {
  const auto row = HWY_DYNAMIC_DISPATCH(PruneRow);
  const float tau = fp32_value(pruner.tau & 0x7FFFFFFFU);
  const std::int64_t lanes = draws.lanes;
  const std::int64_t block = block_elements(draws);
  DrawStream stream(draws, 0, draws.lanes);
  stream.seek(begin / lanes);
  AlignedBuffer<std::uint32_t> random(block);
  AlignedBuffer<float> padded(block);
  AlignedBuffer<std::uint8_t> padded_bits(block / 8);
  for (std::int64_t i = begin; i < end; i += block) {
    stream.fill(random.span());
    const std::int64_t count = std::min(block, end - i);
    std::uint8_t* bits = nonzero.empty() ? nullptr : nonzero.data() + i / 8;
    if (count == block) {
      row(g.data() + i, tau, pruner.random_bits, random.data(), out.data() + i, bits, count, &counts);
      continue;
    }
    // The last block is padded with zeros, which are taken out of the count again.
    std::copy_n(g.data() + i, count, padded.data());
    std::fill(padded.data() + count, padded.data() + block, 0.0F);
    row(padded.data(), tau, pruner.random_bits, random.data(), padded.data(),
        bits == nullptr ? nullptr : padded_bits.data(), block, &counts);
    counts.zeros_in -= block - count;
    std::copy_n(padded.data(), count, out.data() + i);
    if (bits != nullptr) std::copy_n(padded_bits.data(), (count + 7) / 8, bits);
  }
  counts.kept = (end - begin) - counts.zeros_in - counts.snapped - counts.zeros_made;
}

}  // namespace

PruneCounts prune(std::span<const float> g, const Pruner& pruner, const DrawSource& draws,
                  std::span<float> out, std::span<std::uint8_t> nonzero, int threads) {
  if (!vectorised(pruner, draws)) return prune_tensor<float>(g, pruner, draws, out, nonzero);
  check_prune(pruner, draws, 32, g.size(), out.size(), nonzero.size());
  PruneCounts counts;
  std::mutex merge;
  parallel_ranges(static_cast<std::int64_t>(g.size()), block_elements(draws), threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    PruneCounts met;
                    prune_range(g, pruner, draws, out, nonzero, begin, end, met);
                    const std::lock_guard lock(merge);
                    counts += met;
                  });
  return counts;
}

std::uint64_t nonzero_mask(std::span<const std::uint8_t> codes, const Format& format,
                           std::span<std::uint8_t> nonzero) {
  if (format.bits() > 8 || nonzero.size() != (codes.size() + 7) / 8) {
    throw std::invalid_argument("a mask of " + std::to_string(codes.size()) + " codes of " + format.name() +
                                " needs a format of up to 8 bits and one bit per code");
  }
  // Only fnuz has a NaN whose magnitude bits are zero; elsewhere no code needs the exception, 1 stands for
  // none.
  const auto nan = static_cast<std::uint8_t>(format.specials == Specials::fnuz ? format.nan_code() : 1);
  return HWY_DYNAMIC_DISPATCH(NonzeroRow)(codes.data(), static_cast<std::uint8_t>(format.magnitude_mask()),
                                          nan, nonzero.data(), codes.size());
}

std::uint64_t count_nonzero(std::span<const std::uint8_t> nonzero, std::uint64_t begin, std::uint64_t end) {
  if (begin > end || end > 8 * nonzero.size()) {
    throw std::invalid_argument("positions " + std::to_string(begin) + ".." + std::to_string(end) +
                                " are not within a mask of " + std::to_string(8 * nonzero.size()) + " bits");
  }
  std::uint64_t found = 0;
  while (begin < end) {
    const std::uint64_t stop = std::min(end, (begin / 8 + 1) * 8);
    const unsigned bits = nonzero[begin / 8] >> (begin % 8);
    found += std::popcount(bits & ((1U << (stop - begin)) - 1));
    begin = stop;
  }
  return found;
}

}  // namespace mantissa::kernels
#endif
