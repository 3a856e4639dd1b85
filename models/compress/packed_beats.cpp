#include "models/compress/packed_beats.hpp"

#include <algorithm>
#include <utility>

namespace mantissa {

PackedBeat ZeroPacker::push(const DenseBeat& beat) {
  PackedBeat result;
  for (const std::uint8_t code : beat.codes) {
    const bool zero = code_.is_zero(code);
    result.mask.push_back(!zero);
    if (!zero) held_.push_back(code);
  }
  if (held_.size() >= lanes_ || beat.last) {
    const auto end = held_.begin() + static_cast<std::ptrdiff_t>(std::min(held_.size(), lanes_));
    result.word.assign(held_.begin(), end);
    held_.erase(held_.begin(), end);
  }
  result.last = beat.last && held_.empty();
  return result;
}

std::optional<PackedBeat> ZeroPacker::flush() {
  if (held_.empty()) return std::nullopt;
  return PackedBeat{{}, std::exchange(held_, {}), true};
}

// The codes of the beat's elements; nothing where it is refused.
std::optional<std::vector<std::uint8_t>> ZeroUnpacker::take(const PackedBeat& beat) {
  const auto needed = static_cast<std::size_t>(std::count(beat.mask.begin(), beat.mask.end(), true));
  const bool wanted = needed > held_.size();
  if (wanted == beat.word.empty()) return std::nullopt;
  held_.insert(held_.end(), beat.word.begin(), beat.word.end());
  if (needed > held_.size() || (beat.last && needed < held_.size())) return std::nullopt;
  std::vector<std::uint8_t> codes(beat.mask.size());
  auto next = held_.begin();
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (!beat.mask[i]) continue;
    if (code_.is_zero(*next)) return std::nullopt;
    codes[i] = *next++;
  }
  held_.erase(held_.begin(), next);
  return codes;
}

std::optional<ZeroUnpacker::Result> ZeroUnpacker::push(const PackedBeat& beat, bool stray) {
  if (swallow_) {
    swallow_ = !beat.last;
    return std::nullopt;
  }
  const std::optional<std::vector<std::uint8_t>> codes = stray ? std::nullopt : take(beat);
  if (codes) return Result{{*codes, beat.last}};
  held_.clear();
  swallow_ = !beat.last;
  return Result{{{}, true}, true};
}

}  // namespace mantissa
