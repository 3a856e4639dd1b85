// The random numbers of one panel of output columns, as fractions that a rounding adds; once per SIMD target.
// (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_PANEL_DRAWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_PANEL_DRAWS_INL
#undef MANTISSA_KERNELS_PANEL_DRAWS_INL
#else
#define MANTISSA_KERNELS_PANEL_DRAWS_INL
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/kernels/column_panels.hpp"
#include "models/kernels/draw_stream.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
class PanelDraws {
 public:
  // Draws of lanes lane_offset + lane; a value is (draw mod 2^random_bits) * 2^scale + shift, at most 31
  // random bits.
  PanelDraws(const DrawSource& source, std::int64_t lane_offset, int random_bits, int scale, T shift)
      : source_(source),
        lane_offset_(lane_offset),
        mask_((1U << random_bits) - 1),
        unit_(std::ldexp(T{1}, scale)),
        shift_(shift) {}

  // values[i * width + column] = draw first + i of that column of the panel, counted from the tile's own
  // first draw, which is tile_draws * (first_tile + tile_across).
  void Fill(const ColumnPanel& panel, std::uint64_t first_tile, std::uint64_t tile_draws, std::uint64_t first,
            std::size_t count, std::size_t width, T* values) {
    for (std::size_t slot = 0; slot < panel.segments.size(); ++slot) {
      const PanelSegment& segment = panel.segments[slot];
      DrawStream& stream = StreamOf(slot, segment);
      stream.seek((first_tile + segment.tile_across) * tile_draws + first);
      draws_.resize(count * segment.lanes);
      stream.fill(draws_);
      for (std::size_t i = 0; i < count; ++i) {
        Fractions(draws_.data() + i * segment.lanes, segment.lanes, values + i * width + segment.offset);
      }
    }
  }

 private:
  void Fractions(const std::uint32_t* draw, int count, T* value) const {
    const hn::ScalableTag<T> d;
    const hn::Rebind<std::int32_t, decltype(d)> di;
    const auto mask = hn::Set(di, static_cast<std::int32_t>(mask_));
    const auto unit = hn::Set(d, unit_);
    const auto shift = hn::Set(d, shift_);
    const int lanes = static_cast<int>(hn::Lanes(d));
    int i = 0;
    for (; i + lanes <= count; i += lanes) {
      const auto bits = hn::And(hn::LoadU(di, reinterpret_cast<const std::int32_t*>(draw + i)), mask);
      if constexpr (sizeof(T) == sizeof(std::int32_t)) {
        hn::StoreU(hn::MulAdd(hn::ConvertTo(d, bits), unit, shift), d, value + i);
      } else {
        hn::StoreU(hn::MulAdd(hn::PromoteTo(d, bits), unit, shift), d, value + i);
      }
    }
    for (; i < count; ++i) value[i] = static_cast<T>(draw[i] & mask_) * unit_ + shift_;
  }

  DrawStream& StreamOf(std::size_t slot, const PanelSegment& segment) {
    const auto key = std::pair(slot, segment.first_lane);
    const auto found = streams_.find(key);
    if (found != streams_.end()) return found->second;
    DrawStream fresh(source_, lane_offset_ + segment.first_lane, segment.lanes,
                     DrawStream::Spacing::short_streams);
    return streams_.emplace(key, std::move(fresh)).first->second;
  }

  DrawSource source_;
  std::int64_t lane_offset_;
  std::uint32_t mask_;
  T unit_;
  T shift_;
  std::map<std::pair<std::size_t, std::int64_t>, DrawStream> streams_;
  std::vector<std::uint32_t> draws_;
};

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
