#include "sim/machine/block_sum_buffer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "sim/arch/sizes.hpp"

namespace mantissa {

BlockSumBuffer::BlockSumBuffer(const Architecture& arch, const BlockPlan& plan) : plan_(plan) {
  // With statistics of a backward pass an element of x lies beside its sum.
  const BlockJob& job = plan.job();
  const int place_bits = job.sum_bits + (job.statistics == DrainStatistics::backward ? job.x_bits : 0);
  std::int64_t largest = 0;
  for (std::int64_t block = 0; block < plan.blocks(); ++block)
    largest = std::max(largest, packed_bytes(plan.outputs(block).elements(), place_bits));
  if (largest > arch.c_buffer_bytes) {
    throw std::invalid_argument(
        fmt::format("c_buffer {} is too small for this mapping: the sums of a block take {} bytes",
                    arch.c_buffer_bytes, largest));
  }
  if (2 * largest <= arch.c_buffer_bytes) blocks_ = 2;
}

const BlockSumBuffer::Place& BlockSumBuffer::held(std::int64_t block) const {
  const Place& place = places_[place_of(block)];
  if (place.block != block) throw std::logic_error("a block of sums that is not in the buffer C");
  return place;
}

std::size_t BlockSumBuffer::index(const Place& place, std::int64_t row, std::int64_t col) {
  const Rectangle& part = place.outputs;
  if (row < part.row0 || row >= part.row1 || col < part.col0 || col >= part.col1)
    throw std::logic_error("a sum outside of its block");
  return static_cast<std::size_t>((row - part.row0) * part.cols() + col - part.col0);
}

void BlockSumBuffer::open(std::int64_t block) {
  Place& place = places_[place_of(block)];
  if (place.block != none) throw std::logic_error("a block of sums in the place of another");
  place.block = block;
  place.outputs = plan_.outputs(block);
  place.complete = false;
  place.words.assign(place.outputs.elements(), 0);
  place.stored.assign(place.outputs.elements(), false);
}

void BlockSumBuffer::put(std::int64_t block, std::int64_t row, std::int64_t col, std::uint64_t sum) {
  Place& place = held(block);
  if (place.complete) throw std::logic_error("a sum for a block that has all of them");
  const std::size_t at = index(place, row, col);
  place.words[at] = sum;
  place.stored[at] = true;
}

std::uint64_t BlockSumBuffer::sum(std::int64_t block, std::int64_t row, std::int64_t col) const {
  const Place& place = held(block);
  const std::size_t at = index(place, row, col);
  if (place.complete || !place.stored[at]) throw std::logic_error("a sum is loaded that was not stored");
  return place.words[at];
}

void BlockSumBuffer::complete(std::int64_t block) { held(block).complete = true; }

bool BlockSumBuffer::is_complete(std::int64_t block) const {
  const Place& place = places_[place_of(block)];
  return place.block == block && place.complete;
}

std::uint64_t BlockSumBuffer::word(std::int64_t block, std::int64_t row, std::int64_t col) const {
  const Place& place = held(block);
  if (!place.complete) throw std::logic_error("a block drains before its sums are there");
  return place.words[index(place, row, col)];
}

void BlockSumBuffer::put_code(std::int64_t block, std::int64_t row, std::int64_t col, std::uint32_t code) {
  Place& place = held(block);
  place.words[index(place, row, col)] = code;
}

void BlockSumBuffer::close(std::int64_t block) { held(block).block = none; }

}  // namespace mantissa
