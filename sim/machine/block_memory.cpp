#include "sim/machine/block_memory.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/format/packed.hpp"

namespace mantissa {
BlockMemory::BlockMemory(const BlockParts& parts, const BlockArrayJob& job, const BlockPlan& plan)
    : parts_(parts),
      plan_(plan),
      a_(plan, GemmSide::a, parts.arch.a_buffer_bytes, "a_buffer"),
      b_(plan, GemmSide::b, parts.arch.b_buffer_bytes, "b_buffer"),
      c_(parts.arch, plan),
      x_(plan, job) {
  const std::vector<std::uint8_t> a = job.packed ? a_.packed_image(job.first) : a_.image(job.first);
  const std::vector<std::uint8_t> b = b_.image(job.second);
  c_address_ = std::ssize(a) + std::ssize(b);
  const std::int64_t x_address = c_address_ + packed_bytes(plan.job().outputs.elements(), plan.job().c_bits);
  parts.dma.forget();
  parts.dram.resize(x_address + x_.dram_bytes());
  a_.lay(a, 0, parts.dma);
  b_.lay(b, std::ssize(a), parts.dma);
  x_.lay(x_address, parts.dma);
  extend_queue();
}

// --------------------------------------------------------------------------------------------------- queue

// So many write-backs are in the queue when the loads of a step and what stands behind them are: with room
// for two blocks that of block j stands behind the step that follows the first step of block j + 1.
std::int64_t BlockMemory::write_backs_behind(std::int64_t step) const {
  const auto& steps = plan_.steps();
  if (!c_.two_blocks()) return steps[step].block;
  // Block j + 1 has opened with a step before this one.
  return step == 0 ? 0 : steps[step - 1].block;
}

bool BlockMemory::queue_load(Kind kind) {
  BlockOperandMemory& operand = kind == Kind::load_a ? a_ : b_;
  Transfer transfer{.kind = kind, .index = queued_steps_, .lines = operand.missing(queued_steps_)};
  if (transfer.lines.empty()) return false;
  transfer.early = operand.early(queued_steps_);
  queue_.push_back(std::move(transfer));
  return true;
}

void BlockMemory::extend_queue() {
  const auto steps = static_cast<std::int64_t>(plan_.steps().size());
  while (queued_steps_ < steps) {
    if (!b_is_next_) {
      b_is_next_ = true;
      if (queue_load(Kind::load_a)) return;
    }
    const bool loads = queue_load(Kind::load_b);
    b_is_next_ = false;
    for (const std::int64_t blocks = write_backs_behind(queued_steps_); queued_blocks_ < blocks;
         ++queued_blocks_)
      queue_.push_back({.kind = Kind::write_back, .index = queued_blocks_});
    if (x_.needed() && plan_.steps()[queued_steps_].opens_block)
      queue_.push_back({.kind = Kind::load_x, .index = queued_steps_});
    ++queued_steps_;
    if (loads) return;
  }
  for (; queued_blocks_ < plan_.blocks(); ++queued_blocks_)
    queue_.push_back({.kind = Kind::write_back, .index = queued_blocks_});
}

bool BlockMemory::allowed(const Transfer& transfer, const Progress& progress) const {
  if (transfer.kind == Kind::write_back) return progress.drained > transfer.index;
  if (transfer.kind == Kind::load_x) return progress.begun > transfer.index;
  if (transfer.index == 0) return true;
  return (transfer.early ? progress.begun : progress.computed) >= transfer.index;
}

void BlockMemory::issue(const Transfer& transfer) {
  switch (transfer.kind) {
    case Kind::load_a:
      a_.issue_load(transfer.lines, parts_.dma);
      break;
    case Kind::load_b:
      b_.issue_load(transfer.lines, parts_.dma);
      break;
    case Kind::load_x:
      x_.issue_load(plan_.steps()[transfer.index].block, parts_.dma);
      break;
    case Kind::write_back:
      issue_write_back(transfer.index);
      break;
  }
}

void BlockMemory::issue_write_back(std::int64_t block) {
  const Rectangle part = plan_.outputs(block);
  const Rectangle& all = plan_.job().outputs;
  DramPieces pieces;
  pieces.bits = plan_.job().c_bits;
  std::vector<std::uint8_t> packed(packed_bytes(part.elements(), pieces.bits));
  std::int64_t at = 0;
  for (std::int64_t row = part.row0; row < part.row1; ++row) {
    add_piece(pieces.pieces, (row - all.row0) * all.cols() + part.col0 - all.col0, part.cols());
    for (std::int64_t col = part.col0; col < part.col1; ++col)
      set_packed_element(packed, at++, pieces.bits, static_cast<std::uint32_t>(c_.word(block, row, col)));
  }
  parts_.dma.issue_write(c_address_, pieces, packed);
}

void BlockMemory::end(const Transfer& transfer) {
  switch (transfer.kind) {
    case Kind::load_a:
      if (a_.packed()) {
        unpacked_ = transfer.lines;
      } else {
        a_.end_load(transfer.lines, parts_.dma.data());
      }
      break;
    case Kind::load_b:
      b_.end_load(transfer.lines, parts_.dma.data());
      break;
    case Kind::load_x:
      x_.end_load(plan_.steps()[transfer.index].block, parts_.dma);
      break;
    case Kind::write_back:
      c_.close(transfer.index);
      ++written_;
      break;
  }
}

void BlockMemory::clock(const Progress& progress) {
  // Once a step has computed, what the next one does not keep makes room.
  const auto steps = static_cast<std::int64_t>(plan_.steps().size());
  while (room_made_ < std::min(progress.computed, steps - 1)) {
    ++room_made_;
    a_.make_room(room_made_);
    b_.make_room(room_made_);
  }
  while (!queue_.empty() && parts_.dma.has_room() && allowed(queue_.front(), progress)) {
    const bool load = queue_.front().kind == Kind::load_a || queue_.front().kind == Kind::load_b;
    issue(queue_.front());
    flying_.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (load) extend_queue();
  }
  const bool ended = parts_.dma.clock();
  unpack(ended);
  if (!ended) return;
  end(flying_.front());
  flying_.pop_front();
}

// What has come of the oldest transfer, if it has packed lines, goes on to the unpacker.
void BlockMemory::unpack(bool ended) {
  if (!a_.packed() || flying_.empty() || flying_.front().kind != Kind::load_a) return;
  if (!unpacks_) parts_.unpacker->begin(a_.line_elements(flying_.front().lines));
  parts_.unpacker->come(ended ? parts_.dma.data() : parts_.dma.arrived());
  unpacks_ = !ended;
}

void BlockMemory::take_unpacked() {
  if (unpacked_.empty()) return;
  a_.end_load(unpacked_, parts_.unpacker->take());
  unpacked_.clear();
}

// The queue reaches to the next load at least.
bool BlockMemory::loaded(std::int64_t step) const {
  const auto waits = [step](const Transfer& transfer) {
    return (transfer.kind == Kind::load_a || transfer.kind == Kind::load_b) && transfer.index <= step;
  };
  return std::none_of(flying_.begin(), flying_.end(), waits) &&
         std::none_of(queue_.begin(), queue_.end(), waits);
}

bool BlockMemory::writes_back() const {
  if (flying_.empty() && queue_.empty()) return false;
  return (flying_.empty() ? queue_ : flying_).front().kind == Kind::write_back;
}

// ------------------------------------------------------------------------------------------------- results

std::uint64_t BlockMemory::tensor_bytes() const {
  return static_cast<std::uint64_t>(a_.moved_bytes() + b_.moved_bytes() + x_.moved_bytes() +
                                    packed_bytes(plan_.job().outputs.elements(), plan_.job().c_bits));
}

std::vector<std::uint32_t> BlockMemory::results() const {
  const Rectangle& out = plan_.job().outputs;
  const int bits = plan_.job().c_bits;
  std::vector<std::uint8_t> packed(packed_bytes(out.elements(), bits));
  parts_.dma.host_read(c_address_, packed);
  std::vector<std::uint32_t> codes(out.elements());
  for (std::int64_t i = 0; i < out.elements(); ++i) codes[i] = packed_element(packed, i, bits);
  return codes;
}

}  // namespace mantissa
