#include "models/kernels/draw_stream.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/draw_stream.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool Copied, class V>
HWY_INLINE void Put(V x, std::uint32_t* out, std::uint32_t* copy) {
  const hn::ScalableTag<std::uint32_t> d;
  hn::StoreU(x, d, out);
  if constexpr (Copied) hn::Stream(x, d, copy);
}

// out[i] = XOR over t of term[t][i]. A term may be `out` itself, at least one block behind. Copied: the same
// to `copy`, which is aligned to a vector, past the caches.
template <bool Copied>
void XorInto(const std::uint32_t* const* term, std::size_t terms, std::uint32_t* out, std::uint32_t* copy,
             std::size_t count, std::size_t spacing) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (spacing >= 4 * lanes) {
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      auto x0 = hn::LoadU(d, term[0] + i);
      auto x1 = hn::LoadU(d, term[0] + i + lanes);
      auto x2 = hn::LoadU(d, term[0] + i + 2 * lanes);
      auto x3 = hn::LoadU(d, term[0] + i + 3 * lanes);
      for (std::size_t t = 1; t < terms; ++t) {
        x0 = hn::Xor(x0, hn::LoadU(d, term[t] + i));
        x1 = hn::Xor(x1, hn::LoadU(d, term[t] + i + lanes));
        x2 = hn::Xor(x2, hn::LoadU(d, term[t] + i + 2 * lanes));
        x3 = hn::Xor(x3, hn::LoadU(d, term[t] + i + 3 * lanes));
      }
      Put<Copied>(x0, out + i, copy + i);
      Put<Copied>(x1, out + i + lanes, copy + i + lanes);
      Put<Copied>(x2, out + i + 2 * lanes, copy + i + 2 * lanes);
      Put<Copied>(x3, out + i + 3 * lanes, copy + i + 3 * lanes);
    }
  }
  if (spacing >= lanes) {
    for (; i + lanes <= count; i += lanes) {
      auto x = hn::LoadU(d, term[0] + i);
      for (std::size_t t = 1; t < terms; ++t) x = hn::Xor(x, hn::LoadU(d, term[t] + i));
      Put<Copied>(x, out + i, copy + i);
    }
  }
  for (; i < count; ++i) {
    std::uint32_t x = 0;
    for (std::size_t t = 0; t < terms; ++t) x ^= term[t][i];
    out[i] = x;
    if constexpr (Copied) copy[i] = x;
  }
}

void XorTerms(const std::uint32_t* const* term, std::size_t terms, std::uint32_t* out, std::size_t count,
              std::size_t spacing) {
  XorInto<false>(term, terms, out, out, count, spacing);
}

void XorTermsCopied(const std::uint32_t* const* term, std::size_t terms, std::uint32_t* out,
                    std::uint32_t* copy, std::size_t count, std::size_t spacing) {
  XorInto<true>(term, terms, out, copy, count, spacing);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(XorTerms);
HWY_EXPORT(XorTermsCopied);

namespace {

// Above so many elements a stream is no longer in any cache when it is read again: it is written past them,
// which spares reading the lines that it overwrites.
constexpr std::size_t past_caches = std::size_t{1} << 22;
constexpr std::size_t line_elements = 64 / sizeof(std::uint32_t);

}  // namespace

DrawStream::DrawStream(const DrawSource& source, std::uint64_t first_lane, int lanes, Spacing spacing)
    : lanes_(lanes),
      leap_(source.leap),
      one_draw_(lfsr_step_matrix().power(static_cast<std::uint64_t>(source.leap))) {
  std::vector<int> lags = draw_recurrence(leap_);
  // By Frobenius all lags may be doubled, as often as it takes to keep them at a distance.
  std::size_t stretch = 1;
  while (stretch * lags.front() * lanes < static_cast<std::size_t>(spacing)) stretch *= 2;
  lag_.reserve(lags.size());
  for (const int lag : lags) lag_.push_back(stretch * lag * lanes);
  seed_.reserve(lanes);
  for (int lane = 0; lane < lanes; ++lane) seed_.push_back(source.lane(first_lane + lane).state());
  anchor_ = state_ = seed_;
}

void DrawStream::seek(std::uint64_t draw) {
  if (draw == next_draw_) return;
  const std::uint64_t distance = draw > anchor_draw_ ? draw - anchor_draw_ : 0;
  if (distance != 0 && distance == last_distance_) {
    if (!jump_) {
      jump_.emplace(lfsr_step_matrix().power((distance % 0xFFFFFFFFULL) * static_cast<std::uint64_t>(leap_)));
    }
    for (std::uint32_t& state : anchor_) state = *jump_ * state;
  } else {
    last_distance_ = distance;
    jump_.reset();
    for (int lane = 0; lane < lanes_; ++lane) {
      Lfsr lfsr(seed_[lane], leap_);
      lfsr.skip(draw);
      anchor_[lane] = lfsr.state();
    }
  }
  anchor_draw_ = next_draw_ = draw;
  state_ = anchor_;
  history_.clear();
}

void DrawStream::fill(std::span<std::uint32_t> out) {
  next_draw_ += out.size() / lanes_;
  if (history_.empty()) {
    const std::size_t depth = lag_.back();
    const std::span<std::uint32_t> first = out.first(std::min(depth, out.size()));
    fill_by_steps(first);
    if (first.size() < depth) return;
    history_.assign(first.begin(), first.end());
    out = out.subspan(depth);
  }
  if (out.size() < past_caches) {
    fill_by_recurrence(out);
    return;
  }
  const std::size_t beyond_line =
      reinterpret_cast<std::uintptr_t>(out.data()) / sizeof(std::uint32_t) % line_elements;
  const std::size_t head = (line_elements - beyond_line) % line_elements;
  fill_by_recurrence(out.first(head));
  fill_by_recurrence(out.subspan(head + fill_past_caches(out.subspan(head))));
}

// Whole blocks of the stream, made in a window that stays in the first cache. Returns how many elements.
std::size_t DrawStream::fill_past_caches(std::span<std::uint32_t> out) {
  const std::size_t depth = lag_.back();
  const std::size_t block = std::max<std::size_t>(4096, 8 * depth) / line_elements * line_elements;
  std::vector<std::uint32_t> window(depth + block);
  std::uint32_t* const made = window.data() + depth;
  std::vector<const std::uint32_t*> term;
  for (const std::size_t lag : lag_) term.push_back(made - lag);
  std::copy(history_.begin(), history_.end(), window.begin());
  std::size_t done = 0;
  for (; done + block <= out.size(); done += block) {
    HWY_DYNAMIC_DISPATCH(XorTermsCopied)
    (term.data(), term.size(), made, out.data() + done, block, lag_.front());
    std::copy(made + block - depth, made + block, window.data());
  }
  hwy::FlushStream();
  std::copy(window.data(), made, history_.begin());
  return done;
}

void DrawStream::fill_by_steps(std::span<std::uint32_t> out) {
  for (std::size_t i = 0; i < out.size(); i += lanes_) {
    for (int lane = 0; lane < lanes_; ++lane) out[i + lane] = state_[lane] = one_draw_ * state_[lane];
  }
}

// Each term comes from `out` as far as it reaches back, before that from the history.
void DrawStream::fill_by_recurrence(std::span<std::uint32_t> out) {
  std::vector<const std::uint32_t*> term(lag_.size());
  for (std::size_t done = 0; done < out.size();) {
    std::size_t end = out.size();
    for (std::size_t t = 0; t < lag_.size(); ++t) {
      if (done >= lag_[t]) {
        term[t] = out.data() + (done - lag_[t]);
      } else {
        term[t] = history_.data() + (history_.size() + done - lag_[t]);
        end = std::min(end, lag_[t]);
      }
    }
    HWY_DYNAMIC_DISPATCH(XorTerms)(term.data(), term.size(), out.data() + done, end - done, lag_.front());
    done = end;
  }
  const auto depth = static_cast<std::ptrdiff_t>(lag_.back());
  const auto size = static_cast<std::ptrdiff_t>(out.size());
  if (size >= depth) {
    std::copy(out.end() - depth, out.end(), history_.begin());
  } else {
    std::copy(history_.begin() + size, history_.end(), history_.begin());
    std::copy(out.begin(), out.end(), history_.end() - size);
  }
}

}  // namespace mantissa::kernels
#endif
