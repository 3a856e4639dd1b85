#include "models/kernels/draw_stream.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/draw_stream.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out[i] = XOR over t of term[t][i]. A term may be `out` itself, at least one block behind.
void XorTerms(const std::uint32_t* const* term, std::size_t terms, std::uint32_t* out, std::size_t count,
              std::size_t spacing) {
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
      hn::StoreU(x0, d, out + i);
      hn::StoreU(x1, d, out + i + lanes);
      hn::StoreU(x2, d, out + i + 2 * lanes);
      hn::StoreU(x3, d, out + i + 3 * lanes);
    }
  }
  if (spacing >= lanes) {
    for (; i + lanes <= count; i += lanes) {
      auto x = hn::LoadU(d, term[0] + i);
      for (std::size_t t = 1; t < terms; ++t) x = hn::Xor(x, hn::LoadU(d, term[t] + i));
      hn::StoreU(x, d, out + i);
    }
  }
  for (; i < count; ++i) {
    std::uint32_t x = 0;
    for (std::size_t t = 0; t < terms; ++t) x ^= term[t][i];
    out[i] = x;
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(XorTerms);

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
  const std::size_t depth = lag_.back();
  next_draw_ += out.size() / lanes_;
  if (history_.empty()) {
    const std::size_t first = std::min(depth, out.size());
    fill_by_steps(out.first(first));
    if (first < depth) return;
    fill_by_recurrence(out, first);
    history_.assign(out.end() - static_cast<std::ptrdiff_t>(depth), out.end());
    return;
  }
  fill_by_recurrence(out, 0);
  if (out.size() >= depth) {
    std::copy(out.end() - static_cast<std::ptrdiff_t>(depth), out.end(), history_.begin());
  } else {
    std::copy(history_.begin() + static_cast<std::ptrdiff_t>(out.size()), history_.end(), history_.begin());
    std::copy(out.begin(), out.end(), history_.end() - static_cast<std::ptrdiff_t>(out.size()));
  }
}

void DrawStream::fill_by_steps(std::span<std::uint32_t> out) {
  for (std::size_t i = 0; i < out.size(); i += lanes_) {
    for (int lane = 0; lane < lanes_; ++lane) out[i + lane] = state_[lane] = one_draw_ * state_[lane];
  }
}

// Elements [done, size): each term comes from `out` as far as it reaches back, before that from the history.
void DrawStream::fill_by_recurrence(std::span<std::uint32_t> out, std::size_t done) {
  std::vector<const std::uint32_t*> term(lag_.size());
  while (done < out.size()) {
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
}

}  // namespace mantissa::kernels
#endif
