#include "sim/machine/gemm_memory.hpp"

namespace mantissa {

GemmMemory::GemmMemory(const MachineParts& parts, const ArrayJob& job, const GemmPlan& plan)
    : parts_(parts), plan_(plan), step_(plan.step(0)) {
  parts_.dma.forget();
  parts_.a.resize(plan.a_buffer_bytes());
  parts_.b.resize(plan.b_buffer_bytes());
  parts_.c.resize(2 * plan.c_half_bytes());
  parts_.dram.resize(plan.dram_bytes());
  for (std::int64_t i = 0; i < plan.steps(); ++i) {
    const PlannedStep step = plan.step(i);
    if (step.tile_col == 0) fill_a(job, step);
    if (step.tile_row == 0) fill_b(job, step);
  }
}

// ---------------------------------------------------------------------------------------------------- DRAM
// Block by block, as the transfers will want it.

void GemmMemory::fill_a(const ArrayJob& job, const PlannedStep& step) {
  const int bits = plan_.shape().a_bits;
  std::vector<std::uint8_t> block(packed_bytes(step.rows * step.length, bits));
  for (std::int64_t row = 0; row < step.rows; ++row) {
    const std::int64_t first = (step.tile_row * parts_.arch.rows + row) * job.k + step.first_k;
    for (std::int64_t k = 0; k < step.length; ++k) {
      set_packed_element(block, row * step.length + k, bits, job.a.element(first + k));
    }
  }
  parts_.dma.host_write(plan_.a_address(step), block);
}

void GemmMemory::fill_b(const ArrayJob& job, const PlannedStep& step) {
  const int bits = plan_.shape().b_bits;
  std::vector<std::uint8_t> block(packed_bytes(step.length * step.cols, bits));
  for (std::int64_t k = 0; k < step.length; ++k) {
    const std::int64_t first = (step.first_k + k) * job.n + step.tile_col * parts_.arch.cols;
    for (std::int64_t col = 0; col < step.cols; ++col)
      set_packed_element(block, k * step.cols + col, bits, job.b.element(first + col));
  }
  parts_.dma.host_write(plan_.b_address(step), block);
}

std::vector<std::uint32_t> GemmMemory::results() const {
  const GemmShape& shape = plan_.shape();
  std::vector<std::uint32_t> codes(shape.m * shape.n);
  std::vector<std::uint8_t> block;
  for (std::int64_t i = 0; i < plan_.tiles(); ++i) {
    const GemmPlan::TilePlace tile = plan_.tile(i);
    block.resize(packed_bytes(tile.rows * tile.cols, shape.c_bits));
    parts_.dma.host_read(plan_.c_address(i), block);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      for (std::int64_t col = 0; col < tile.cols; ++col) {
        codes[(tile.first_row + row) * shape.n + tile.first_col + col] =
            packed_element(block, row * tile.cols + col, shape.c_bits);
      }
    }
  }
  return codes;
}

// ----------------------------------------------------------------------------------------------------- DMA

bool GemmMemory::exists() const {
  switch (transfer_) {
    case Transfer::load_a:
      return index_ < plan_.steps() && step_.loads_a;
    case Transfer::load_b:
      return index_ < plan_.steps() && step_.loads_b;
    case Transfer::write_back:
      return plan_.opens_tile(index_) && index_ > 0;
  }
  return false;
}

void GemmMemory::next() {
  do {
    if (transfer_ != Transfer::write_back) {
      transfer_ = transfer_ == Transfer::load_a ? Transfer::load_b : Transfer::write_back;
    } else {
      transfer_ = Transfer::load_a;
      ++index_;
      if (index_ < plan_.steps()) step_ = plan_.step(index_);
    }
  } while (!exists());
}

void GemmMemory::start() {
  const GemmShape& shape = plan_.shape();
  switch (transfer_) {
    case Transfer::load_a:
      parts_.dma.start_read(plan_.a_address(step_), packed_bytes(step_.rows * step_.length, shape.a_bits));
      break;
    case Transfer::load_b:
      parts_.dma.start_read(plan_.b_address(step_), packed_bytes(step_.length * step_.cols, shape.b_bits));
      break;
    case Transfer::write_back: {
      const GemmPlan::TilePlace tile = plan_.tile(written_);
      const std::int64_t bytes = packed_bytes(tile.rows * tile.cols, shape.c_bits);
      parts_.dma.start_write(plan_.c_address(written_), parts_.c.bytes(c_half(written_), bytes));
      break;
    }
  }
}

void GemmMemory::end(std::int64_t cycle) {
  const GemmShape& shape = plan_.shape();
  switch (transfer_) {
    case Transfer::load_a:
      parts_.a.store(step_.a, shape.a_bits, step_.rows * step_.length, parts_.dma.data());
      break;
    case Transfer::load_b:
      parts_.b.store(step_.b, shape.b_bits, step_.length * step_.cols, parts_.dma.data());
      break;
    case Transfer::write_back:
      free_since_[written_ % 2] = cycle + 1;
      ++written_;
      break;
  }
  if (!finished()) next();
}

// A load not before the start of the step before, a write-back not before its tile has drained.
void GemmMemory::clock(std::int64_t cycle, std::int64_t begun, std::int64_t drained) {
  const bool may_start = writes_back() ? drained >= plan_.tile_of(index_) : begun >= index_;
  if (!parts_.dma.busy() && may_start) start();
  if (parts_.dma.clock()) end(cycle);
}

bool GemmMemory::loaded(std::int64_t index, const PlannedStep& step) const {
  if (!step.loads_a && !step.loads_b) return true;
  if (index_ != index) return index_ > index;
  return transfer_ > (step.loads_b ? Transfer::load_b : Transfer::load_a);
}

}  // namespace mantissa
