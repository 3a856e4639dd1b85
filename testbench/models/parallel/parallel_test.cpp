// Ranges cover everything once, whoever runs them.
#include "models/parallel/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace mantissa::kernels {
namespace {

std::vector<int> visits(std::int64_t count, std::int64_t grain, int threads) {
  std::vector<int> seen(count);
  parallel_ranges(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin % grain, 0);
    for (std::int64_t i = begin; i < end; ++i) ++seen[i];
  });
  return seen;
}

TEST(Parallel, EveryElementOnce) {
  for (const int threads : {1, 2, 3, 8, 50}) {
    for (const std::int64_t count : {0, 1, 7, 64, 1000}) {
      for (const std::int64_t grain : {1, 12, 100})
        EXPECT_EQ(visits(count, grain, threads), std::vector<int>(count, 1)) << threads << " " << count;
    }
  }
}

TEST(Parallel, ManyShortCalls) {
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(visits(4, 1, 4), std::vector<int>(4, 1));
}

TEST(Parallel, AnExceptionReachesTheCaller) {
  const auto call = [](int bad) {
    parallel_ranges(8, 1, 4, [bad](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (i == bad) throw std::runtime_error("element " + std::to_string(i));
      }
    });
  };
  EXPECT_THROW(call(0), std::runtime_error);
  EXPECT_THROW(call(7), std::runtime_error);
  EXPECT_NO_THROW(call(8));
}

TEST(Parallel, InsideOfARunAndFromSeveralThreads) {
  std::atomic<int> sum = 0;
  const auto nested = [&] {
    parallel_ranges(4, 1, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        parallel_ranges(
            10, 1, 3, [&](std::int64_t first, std::int64_t last) { sum += static_cast<int>(last - first); });
      }
    });
  };
  {
    std::vector<std::jthread> callers;
    callers.reserve(4);
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        for (int j = 0; j < 100; ++j) nested();
      });
    }
  }
  EXPECT_EQ(sum, 4 * 100 * 40);
}

TEST(Parallel, AForkedChildHasThreadsOfItsOwn) {
  visits(8, 1, 4);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(visits(1000, 1, 4) == std::vector<int>(1000, 1) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mantissa::kernels
