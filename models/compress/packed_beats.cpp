#include "models/compress/packed_beats.hpp"

#include <algorithm>
#include <utility>

#include "models/format/packed.hpp"

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

void PackedLineReader::begin(std::vector<std::int64_t> line_elements) {
  *this = PackedLineReader(static_cast<int>(lanes_), code_);
  line_elements_ = std::move(line_elements);
}

// How many codes a line has is known once its mask is there.
bool PackedLineReader::find_codes(std::span<const std::uint8_t> bytes) {
  if (codes_ >= 0) return true;
  if (std::ssize(bytes) < first_byte_ + mask_bytes()) return false;
  const std::span<const std::uint8_t> mask = bytes.subspan(first_byte_, mask_bytes());
  codes_ = 0;
  for (std::int64_t i = 0; i < line_elements_[line_]; ++i) codes_ += packed_element(mask, i, 1);
  return true;
}

std::optional<PackedBeat> PackedLineReader::next(std::span<const std::uint8_t> bytes) {
  if (done() || !find_codes(bytes)) return std::nullopt;
  const std::span<const std::uint8_t> mask = bytes.subspan(first_byte_, mask_bytes());
  const std::int64_t end = std::min(elements_ + lanes_, line_elements_[line_]);
  PackedBeat beat;
  std::int64_t needed = needed_;
  for (std::int64_t i = elements_; i < end; ++i) {
    beat.mask.push_back(packed_element(mask, i, 1) != 0);
    if (beat.mask.back()) ++needed;
  }
  const std::int64_t fetched = needed > fetched_ ? std::min(fetched_ + lanes_, codes_) : fetched_;
  if (std::ssize(bytes) < first_byte_ + mask_bytes() + packed_bytes(fetched, code_.bits)) return std::nullopt;
  const std::span<const std::uint8_t> stored = bytes.subspan(first_byte_ + mask_bytes());
  for (; fetched_ < fetched; ++fetched_)
    beat.word.push_back(static_cast<std::uint8_t>(packed_element(stored, fetched_, code_.bits)));
  needed_ = needed;
  elements_ = end;
  beat.last = elements_ == line_elements_[line_];
  if (beat.last) {
    first_byte_ += mask_bytes() + packed_bytes(codes_, code_.bits);
    ++line_;
    elements_ = fetched_ = needed_ = 0;
    codes_ = -1;
  }
  return beat;
}

}  // namespace mantissa
