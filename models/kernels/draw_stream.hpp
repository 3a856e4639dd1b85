// The draws of many LFSR lanes at once, in element order, bit for bit those of Lfsr::draw().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/random/gf2.hpp"
#include "models/random/stream.hpp"

namespace mantissa::kernels {

// Lanes first_lane .. first_lane + lanes - 1 of a source. Element i of the stream is draw i / lanes of lane i
// mod lanes. Each lane obeys a linear recurrence draw[n] = XOR draw[n - lag]; in element order that is one
// recurrence with all lags times `lanes`, hence plain vector XORs of what was written before (see
// draw_recurrence).
class DrawStream {
 public:
  // How far apart the terms of the recurrence stand at least, in elements: more for long streams (independent
  // vectors in flight), fewer for short ones (less history to set up).
  enum class Spacing { short_streams = 16, long_streams = 64 };

  DrawStream(const DrawSource& source, std::uint64_t first_lane, int lanes,
             Spacing spacing = Spacing::long_streams);

  // The next fill starts at this draw of every lane.
  void seek(std::uint64_t draw);
  // The next out.size() / lanes draws of every lane; the size must be a multiple of the number of lanes.
  void fill(std::span<std::uint32_t> out);

 private:
  void fill_by_steps(std::span<std::uint32_t> out);
  void fill_by_recurrence(std::span<std::uint32_t> out);
  std::size_t fill_past_caches(std::span<std::uint32_t> out);

  int lanes_;
  int leap_;
  std::vector<std::size_t> lag_;  // in elements, ascending
  Gf2Table one_draw_;
  std::vector<std::uint32_t> seed_;  // state of each lane before draw 0
  std::vector<std::uint32_t>
      anchor_;  // state of each lane before draw anchor_draw_, where the last seek went
  std::vector<std::uint32_t>
      state_;  // state of each lane before the next draw; only while there is no history
  std::vector<std::uint32_t> history_;  // the largest lag's worth of elements before the next one, or empty
  std::uint64_t anchor_draw_ = 0;
  std::uint64_t next_draw_ = 0;
  std::uint64_t last_distance_ =
      0;  // seeks tend to repeat their distance: its map is built at the second time
  std::optional<Gf2Table> jump_;
};

}  // namespace mantissa::kernels
