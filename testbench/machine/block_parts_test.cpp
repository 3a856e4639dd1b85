// Parts of the second machine by themselves: what they refuse would be a machine that cheats, and the times
// of transfers in flight are worked out by hand.
#include <gtest/gtest.h>

#include <memory>

#include "models/format/packed.hpp"
#include "sim/machine/block_line_buffer.hpp"
#include "sim/machine/block_sum_buffer.hpp"
#include "sim/machine/dram.hpp"
#include "sim/machine/job_clock.hpp"
#include "sim/machine/queue_dma.hpp"

namespace mantissa::test {
namespace {

struct Memory {
  explicit Memory(const Architecture& arch)
      : dram("dram", arch, whole_cycle()), dma("dma", arch, whole_cycle()) {
    dma.socket.bind(dram.socket);
    finish_elaboration();
    dram.resize(64);
  }
  // Until a transfer ends; the cycles that this takes.
  int wait() {
    int cycles = 1;
    while (!dma.clock()) ++cycles;
    return cycles;
  }
  void read(std::int64_t first, std::int64_t count, int bits = 8) {
    DramPieces pieces;
    pieces.bits = bits;
    pieces.pieces.push_back({first, count});
    dma.issue_read(0, pieces);
  }
  Dram dram;
  QueueDma dma;
};

Architecture slow_memory(int outstanding) {
  Architecture arch;
  arch.dram_latency_cycles = 6;
  arch.dram_burst_bytes = 4;
  arch.dram_burst_cycles = 1;
  arch.dram_outstanding = outstanding;
  return arch;
}

// Issued together, the latencies pass together and the data follows: 6 + 4, then 2 more; the third waits for
// the first to end, and its own latency (10 + 6) is over before the data (12): 16 + 1.
TEST(QueueDma, LatenciesOverlapAndDataDoesNot) {
  Memory memory(slow_memory(2));
  memory.read(0, 16);
  memory.read(16, 8);
  EXPECT_FALSE(memory.dma.has_room());
  EXPECT_THROW(memory.read(0, 1), std::logic_error);
  EXPECT_EQ(memory.wait(), 10);
  memory.read(24, 4);
  EXPECT_EQ(memory.wait(), 2);
  EXPECT_EQ(memory.wait(), 5);
  EXPECT_FALSE(memory.dma.clock());
  EXPECT_EQ(memory.dma.bytes_moved(), 28U);
}

// Bursts of 4 bytes: nothing during the latency, then one with each cycle of data. What has not begun to move
// has nothing.
TEST(QueueDma, DataComesBurstByBurst) {
  Memory memory(slow_memory(2));
  memory.read(0, 10);
  memory.read(16, 4);
  constexpr std::size_t come[] = {0, 0, 0, 0, 0, 0, 4, 8};
  for (const std::size_t bytes : come) {
    EXPECT_FALSE(memory.dma.clock());
    EXPECT_EQ(memory.dma.arrived().size(), bytes);
  }
  EXPECT_TRUE(memory.dma.clock());
  EXPECT_EQ(memory.dma.data().size(), 10U);
  EXPECT_EQ(memory.dma.arrived().size(), 0U);
  EXPECT_EQ(memory.wait(), 1);
}

// Two bursts and a half in a cycle, of which whole ones have come.
TEST(QueueDma, SomeBurstsInACycle) {
  Architecture arch = slow_memory(1);
  arch.dram_latency_cycles = 0;
  arch.dram_burst_cycles = Ratio(2, 5);
  Memory memory(arch);
  memory.read(0, 28);
  EXPECT_FALSE(memory.dma.clock());
  EXPECT_EQ(memory.dma.arrived().size(), 8U);
  EXPECT_FALSE(memory.dma.clock());
  EXPECT_EQ(memory.dma.arrived().size(), 20U);
  EXPECT_TRUE(memory.dma.clock());
}

TEST(QueueDma, OneAtATime) {
  Memory memory(slow_memory(1));
  memory.read(0, 16);
  EXPECT_EQ(memory.wait(), 10);
  memory.read(16, 8);
  EXPECT_EQ(memory.wait(), 8);
}

// Elements of 5 bits: 0..11 in DRAM; 3, 4 and 0 are read, 21, 22, 23 are written over 1, 2 and 5.
TEST(QueueDma, GathersAndScattersElements) {
  Memory memory(slow_memory(1));
  std::vector<std::uint8_t> all(packed_bytes(12, 5));
  for (std::uint32_t i = 0; i < 12; ++i) set_packed_element(all, i, 5, i);
  memory.dma.host_write(0, all);
  DramPieces pieces;
  pieces.bits = 5;
  pieces.pieces = {{3, 2}, {0, 1}};
  memory.dma.issue_read(0, pieces);
  memory.wait();
  ASSERT_EQ(memory.dma.data().size(), 2U);
  EXPECT_EQ(packed_element(memory.dma.data(), 0, 5), 3U);
  EXPECT_EQ(packed_element(memory.dma.data(), 1, 5), 4U);
  EXPECT_EQ(packed_element(memory.dma.data(), 2, 5), 0U);
  std::vector<std::uint8_t> three(2);
  for (std::uint32_t i = 0; i < 3; ++i) set_packed_element(three, i, 5, 21 + i);
  pieces.pieces = {{1, 2}, {5, 1}};
  memory.dma.issue_write(0, pieces, three);
  memory.wait();
  memory.dma.host_read(0, all);
  constexpr std::uint32_t expected[] = {0, 21, 22, 3, 4, 23, 6, 7, 8, 9, 10, 11};
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(packed_element(all, i, 5), expected[i]) << i;
  EXPECT_THROW(memory.read(510, 3), std::logic_error);
}

TEST(DramPieces, WhatLiesTogetherIsOne) {
  std::vector<ElementPiece> pieces;
  add_piece(pieces, 4, 2);
  add_piece(pieces, 6, 3);
  add_piece(pieces, 0, 1);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].count, 5);
}

// Two images of 2 x 3 with one channel: four lines of three elements.
BlockPlan small_plan(const Architecture& arch) {
  BlockJob job;
  job.shape.batch = 2;
  job.shape.in = job.shape.out = {2, 3};
  job.outputs = {0, 12, 0, 1};
  return {arch, job, {.m_block = 4, .n_block = 1, .k_block = 1}};
}

TEST(LineBuffer, HoldsWhatItWasGivenAndNoMore) {
  Architecture arch;
  arch.rows = arch.cols = 4;
  const BlockPlan plan = small_plan(arch);
  const BlockLines lines(plan, GemmSide::a);
  ASSERT_EQ(lines.count(), 4);
  LineBuffer buffer(lines, 6);
  EXPECT_THROW(buffer.line(0), std::logic_error);
  const std::int64_t first[] = {0, 2};
  const std::int64_t other[] = {1};
  const std::uint8_t bytes[] = {10, 11, 12, 13, 14, 15};
  EXPECT_THROW(buffer.store(first, bytes), std::logic_error);
  buffer.reserve(first);
  EXPECT_THROW(buffer.line(0), std::logic_error);  // it comes
  buffer.store(first, bytes);
  EXPECT_EQ(buffer.line(0)[1], 11);
  EXPECT_EQ(buffer.line(2)[0], 13);
  EXPECT_THROW(buffer.reserve(first), std::logic_error);  // they are there
  buffer.keep(std::span(first).first(1));
  EXPECT_EQ(buffer.line(0)[2], 12);
  EXPECT_THROW(buffer.line(2), std::logic_error);
  buffer.reserve(other);
  EXPECT_THROW(buffer.keep(std::span(first).first(1)), std::logic_error);  // what comes is kept
  LineBuffer narrow(lines, 5);
  EXPECT_THROW(narrow.reserve(first), std::logic_error);
}

TEST(BlockSumBuffer, BlocksDoNotGetIntoEachOthersWay) {
  Architecture arch;
  arch.rows = arch.cols = 4;
  arch.c_buffer_bytes = 32;  // two blocks of four sums of 32 bits
  const BlockPlan plan = small_plan(arch);
  BlockSumBuffer sums(arch, plan);
  ASSERT_TRUE(sums.two_blocks());
  sums.open(0);
  sums.open(1);
  EXPECT_FALSE(sums.has_room(2));
  EXPECT_THROW(sums.open(2), std::logic_error);
  sums.put(1, 4, 0, 7);
  EXPECT_EQ(sums.sum(1, 4, 0), 7U);
  EXPECT_THROW(sums.sum(1, 5, 0), std::logic_error);     // never stored
  EXPECT_THROW(sums.put(1, 3, 0, 7), std::logic_error);  // of block 0
  EXPECT_THROW(sums.word(1, 4, 0), std::logic_error);    // not complete
  sums.complete(1);
  EXPECT_THROW(sums.put(1, 5, 0, 7), std::logic_error);
  EXPECT_EQ(sums.word(1, 4, 0), 7U);
  EXPECT_EQ(sums.word(1, 5, 0), 0U);  // that no phase computed
  EXPECT_THROW(sums.close(2), std::logic_error);
  sums.close(0);
  EXPECT_TRUE(sums.has_room(2));
  arch.c_buffer_bytes = 31;
  EXPECT_FALSE(BlockSumBuffer(arch, plan).two_blocks());
  arch.c_buffer_bytes = 15;
  EXPECT_THROW(BlockSumBuffer(arch, plan), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa::test
