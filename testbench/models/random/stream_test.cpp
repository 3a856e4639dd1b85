// Streams, lane seeds and the order of draws: known answers of ARITHMETIC.md 3.
#include "models/random/stream.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "models/mac/stream_id.hpp"

namespace mantissa {
namespace {

TEST(Stream, KnownAnswers) {
  EXPECT_EQ(mix(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(lane_seed(0, 0, 0), 0x38FCBE91U);
  EXPECT_EQ(lane_seed(0, 0, 1), 0x96C67C60U);
  const DrawSource source{.run_seed = 1, .stream = 0, .lanes = 16, .leap = 16};
  Lfsr lane = source.lane(0);
  EXPECT_EQ(lane.draw() & 0xFFFF, 0xE6CCU);
  EXPECT_EQ(lane.draw() & 0xFFFF, 0x673AU);
  EXPECT_EQ(lane.draw() & 0xFFFF, 0x6365U);
}

TEST(Stream, IdPacksItsFields) {
  EXPECT_EQ(StreamId{}.value(), 0U);
  const StreamId id{.step = 0x12345678,
                    .layer = 0xABCD,
                    .pass = Pass::weight_gradient,
                    .unit = RandomUnit::double_sampler,
                    .operand = Operand::b};
  EXPECT_EQ(id.value(), 0x12345678ABCD0214ULL);
  EXPECT_EQ((StreamId{.operand = Operand::bias}.value()), 0x20U);
  EXPECT_EQ((StreamId{.pass = Pass::update, .unit = RandomUnit::weight_update}.value()), 0x305U);
  EXPECT_EQ((StreamId{.unit = RandomUnit::gemmlowp_quantizer, .operand = Operand::weight}.value()), 6U);
  EXPECT_EQ((StreamId{.unit = RandomUnit::accumulator, .operand = Operand::output}.value()), 3U);
}

TEST(DrawSource, StartsAtAnyDraw) {
  const DrawSource source{.run_seed = 9, .stream = 77, .lanes = 4, .leap = 13};
  for (std::uint64_t lane = 0; lane < 8; ++lane) {
    Lfsr stepping = source.lane(lane);
    EXPECT_EQ(stepping.state(), lane_seed(9, 77, lane));
    EXPECT_EQ(stepping.leap(), 13);
    for (std::uint64_t first = 0; first < 50; ++first) {
      Lfsr jumped = source.lane(lane, first);
      ASSERT_EQ(jumped.draw(), stepping.draw()) << lane << " " << first;
    }
  }
}

TEST(ElementDraws, ElementTakesDrawOfItsLane) {
  for (const int lanes : {1, 3, 16}) {
    const DrawSource source{.run_seed = 5, .stream = 6, .lanes = lanes, .leap = 16};
    ElementDraws draws(source);
    for (std::uint64_t i = 0; i < 200; ++i) {
      Lfsr lane = source.lane(i % lanes, i / lanes);
      ASSERT_EQ(draws.next(), lane.draw()) << lanes << " lanes, element " << i;
    }
  }
  EXPECT_THROW(ElementDraws({.lanes = 0}), std::invalid_argument);
  EXPECT_THROW(ElementDraws({.lanes = 4, .leap = 40}), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa
