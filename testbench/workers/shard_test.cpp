// Whose images and whose random numbers: counted out by hand, and against the law's known answers.
#include "sim/workers/shard.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mantissa::workers {
namespace {

TEST(Shards, EveryImageHasOneWorkerAndStepsHaveThoseOfOneLargeBatch) {
  for (const int workers : {1, 2, 3, 4, 7}) {
    for (const std::int64_t images : {56, 57, 61, 84, 100}) {
      for (const std::int64_t batch : {1, 3, 5, 8}) {
        const Shards shards(images, batch, workers);
        std::int64_t next = 0;
        for (std::int64_t step = 0; step < shards.steps(); ++step) {
          for (int worker = 0; worker < workers; ++worker) {
            const Slice slice = shards.slice(step, worker);
            ASSERT_EQ(slice.first, next);
            ASSERT_GE(slice.count, 1);
            ASSERT_LE(slice.count, batch);
            ASSERT_EQ(slice.count, shards.slice(step, 0).count);
            next += slice.count;
          }
        }
        ASSERT_EQ(next, shards.images());
        ASSERT_EQ(next, images - images % workers);
        ASSERT_EQ(shards.last_batch(), shards.slice(shards.steps() - 1, 0).count);
      }
    }
  }
}

TEST(Shards, ByHand) {
  const Shards shards(22, 4, 3);  // 7 images each: batches of 4 and 3
  EXPECT_EQ(shards.steps(), 2);
  EXPECT_EQ(shards.images(), 21);
  EXPECT_EQ(shards.slice(0, 2).first, 8);
  EXPECT_EQ(shards.slice(1, 0).first, 12);
  EXPECT_EQ(shards.slice(1, 2).first, 18);
  EXPECT_EQ(shards.slice(1, 2).count, 3);
}

TEST(WorkerSeeds, AreThoseOfTheLaw) {
  EXPECT_EQ(worker_seed(1, 0), 1U);
  EXPECT_EQ(worker_seed(1, 1), 0xE2C8FC39C9AA33B0U);
  EXPECT_EQ(worker_seed(1, 3), 0xD4E8E4CA0699372EU);
  EXPECT_EQ(sample_start(1, 0, 0), 0xAE558210C18B9EA8U);
  EXPECT_EQ(sample_start(worker_seed(1, 3), 2, 7), 0xEC65FEF28B0F6A31U);
}

}  // namespace
}  // namespace mantissa::workers
