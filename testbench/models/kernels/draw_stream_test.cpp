// The vector LFSR streams against stepping each lane's LFSR.
#include "models/kernels/draw_stream.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "testbench/models/kernels/all_targets.hpp"

namespace mantissa::kernels {
namespace {

// Draw `draw` of lane `lane`, by single steps from the lane's seed.
std::vector<std::uint32_t> stepped(const DrawSource& source, int first_lane, int lanes, std::uint64_t first,
                                   std::size_t draws) {
  std::vector<std::uint32_t> words(draws * lanes);
  for (int lane = 0; lane < lanes; ++lane) {
    std::uint32_t state = lane_seed(source.run_seed, source.stream, first_lane + lane);
    for (std::uint64_t n = 0; n < first + draws; ++n) {
      for (int step = 0; step < source.leap; ++step) state = lfsr_step(state);
      if (n >= first) words[(n - first) * lanes + lane] = state;
    }
  }
  return words;
}

TEST(DrawStream, EqualsSteppingForAllLeapsAndLaneCounts) {
  test::on_every_target([](const std::string& target) {
    for (int leap = 1; leap <= 32; ++leap) {
      for (const int lanes : {1, 3, 8, 16, 33}) {
        const DrawSource source{.run_seed = 5, .stream = 77, .lanes = lanes, .leap = leap};
        const auto expected = stepped(source, 0, lanes, 0, 300);
        for (const auto spacing : {DrawStream::Spacing::short_streams, DrawStream::Spacing::long_streams}) {
          DrawStream stream(source, 0, lanes, spacing);
          std::vector<std::uint32_t> words(expected.size());
          stream.fill(words);
          ASSERT_EQ(words, expected) << target << " leap " << leap << " lanes " << lanes;
        }
      }
    }
  });
}

TEST(DrawStream, PiecesJoinWhateverTheirSizes) {
  const DrawSource source{.run_seed = 9, .stream = 3, .lanes = 16};
  const auto expected = stepped(source, 0, 16, 0, 1000);
  test::on_every_target([&](const std::string& target) {
    DrawStream stream(source, 0, 16);
    std::vector<std::uint32_t> words(expected.size());
    std::size_t at = 0;
    for (std::size_t draws = 1; at < words.size(); draws = draws * 7 % 61 + 1) {
      const std::size_t count = std::min(draws * 16, words.size() - at);
      stream.fill(std::span(words).subspan(at, count));
      at += count;
    }
    ASSERT_EQ(words, expected) << target;
  });
}

// Long streams are written past the caches: whatever their place in a cache line, whatever follows.
TEST(DrawStream, LongStreamsContinueAnywhereInACacheLine) {
  constexpr std::size_t draws = (std::size_t{1} << 22) / 16 + 999;
  const DrawSource source{.run_seed = 4, .stream = 6, .lanes = 16};
  const auto expected = stepped(source, 0, 16, 0, draws + 100);
  test::on_every_target([&](const std::string& target) {
    for (const std::size_t offset : {0, 1, 5, 15}) {
      DrawStream stream(source, 0, 16);
      std::vector<std::uint32_t> words(offset + expected.size());
      stream.fill(std::span(words).subspan(offset, std::size_t{16} * 7));
      stream.fill(std::span(words).subspan(offset + std::size_t{16} * 7, 16 * draws));
      stream.fill(std::span(words).subspan(offset + 16 * (7 + draws)));
      ASSERT_TRUE(
          std::equal(expected.begin(), expected.end(), words.begin() + static_cast<std::ptrdiff_t>(offset)))
          << target << " offset " << offset;
    }
  });
}

TEST(DrawStream, SeeksAnywhereAlsoRepeatedlyByTheSameDistance) {
  const DrawSource source{.run_seed = 2, .stream = 8, .lanes = 5, .leap = 16};
  DrawStream stream(source, 4, 5);
  std::vector<std::uint32_t> words(std::size_t{5} * 40);
  for (const std::uint64_t draw : {100ULL, 60ULL, 20ULL, 100ULL, 350ULL, 600ULL, 850ULL, 850ULL, 3ULL, 0ULL,
                                   1100ULL, 2200ULL, 3300ULL}) {
    stream.seek(draw);
    stream.fill(words);
    ASSERT_EQ(words, stepped(source, 4, 5, draw, 40)) << draw;
  }
  // Where stepping would take too long, the LFSR's own jump-ahead is the reference.
  for (const std::uint64_t draw : {1ULL << 40, (1ULL << 40) + 5, (1ULL << 40) + 10}) {
    stream.seek(draw);
    stream.fill(words);
    for (int lane = 0; lane < 5; ++lane) ASSERT_EQ(words[lane], source.lane(4 + lane, draw).draw());
  }
}

}  // namespace
}  // namespace mantissa::kernels
