#include "testbench/arch/block_walk_traffic.hpp"

#include <algorithm>
#include <stdexcept>

namespace mantissa::test {
namespace {

// One of A and B.
class Operand {
 public:
  Operand(const BlockJob& job, const BlockMapping& mapping, const BlockPlan& plan, bool is_a)
      : plan_(plan),
        is_a_(is_a),
        bits_(is_a ? job.a_bits : job.b_bits),
        packed_(is_a && job.packed),
        has_rows_((mapping.order == BlockOrder::m_outside) == is_a) {
    for (const PlannedStep& step : plan.steps) {
      all_.insert(lines(step).begin(), lines(step).end());
      rows_[row(step)].insert(lines(step).begin(), lines(step).end());
    }
  }

  const Lines& lines(const PlannedStep& step) const { return is_a_ ? step.a : step.b; }
  const Lines& all() const { return all_; }
  // Of codes, as a buffer holds them.
  Count bytes(const Lines& lines) const { return bytes_of(elements(lines), bits_); }
  Count dram_bytes(const Lines& lines) const {
    if (!packed_) return bytes(lines);
    Count sum = 0;
    for (const auto& [id, line] : lines) sum += packed_line(line);
    return sum;
  }

  std::array<Count, 3> needs() const {
    Count step_bytes = 0;
    for (const PlannedStep& step : plan_.steps) step_bytes = std::max(step_bytes, bytes(lines(step)));
    Count row_bytes = 0;
    for (const auto& [row, lines] : rows_) row_bytes = std::max(row_bytes, bytes(lines));
    return {step_bytes, row_bytes, bytes(all_)};
  }

  void choose_scope(Count buffer) {
    const auto [step_bytes, row_bytes, all_bytes] = needs();
    if (all_bytes <= buffer) {
      scope_ = Scope::all;
    } else if (has_rows_ && row_bytes <= buffer) {
      scope_ = Scope::row;
    } else if (step_bytes <= buffer) {
      scope_ = Scope::step;
    } else {
      throw std::invalid_argument("a step's lines do not fit");
    }
    buffer_ = buffer;
  }

  // The lines that stay beside a step's own: R of the law.
  const Lines& kept(const PlannedStep& step) const {
    if (scope_ == Scope::all) return all_;
    return scope_ == Scope::row ? rows_.at(row(step)) : lines(step);
  }

  // What step i finds in the buffer, given what the step before it found.
  void go_on_to(Count i) {
    if (i == 0) return;
    const PlannedStep& before = plan_.steps[i - 1];
    for (const auto& [id, line] : lines(before)) there_.insert(id);
    std::erase_if(there_, [&](const LineId& id) { return !kept(before).contains(id); });
  }
  Lines missing(Count i) const {
    Lines lacking;
    for (const auto& [id, line] : lines(plan_.steps[i])) {
      if (!there_.contains(id)) lacking.emplace(id, line);
    }
    return lacking;
  }
  bool early(Count i) const {
    if (i == 0) return true;
    const Lines& kept_before = kept(plan_.steps[i - 1]);
    Count together = elements(kept_before);
    for (const auto& [id, line] : lines(plan_.steps[i])) {
      if (!kept_before.contains(id)) together += static_cast<Count>(line.size()) * row_length();
    }
    return bytes_of(together, bits_) <= buffer_;
  }

  // The tensor's rows that any step needs, each once.
  Count tensor_bytes() const {
    std::set<TensorRow> rows;
    for (const auto& [id, line] : all_) rows.insert(line.begin(), line.end());
    return packed_ ? packed_line(rows) : bytes_of(static_cast<Count>(rows.size()) * row_length(), bits_);
  }

 private:
  enum class Scope { all, row, step };

  // A mask of all elements, and the codes of those that are not zero.
  Count packed_line(const std::set<TensorRow>& line) const {
    Count nonzero = 0;
    for (const TensorRow& row : line) nonzero += plan_.nonzero_in_row.at(row);
    return bytes_of(static_cast<Count>(line.size()) * row_length(), 1) + bytes_of(nonzero, bits_);
  }
  Count row_length() const { return is_a_ ? plan_.row_of_a : plan_.row_of_b; }
  Count row(const PlannedStep& step) const {
    const PlannedBlock& block = plan_.blocks[step.block];
    return is_a_ ? block.row : block.col;
  }
  Count elements(const Lines& lines) const {
    Count rows = 0;
    for (const auto& [id, line] : lines) rows += static_cast<Count>(line.size());
    return rows * row_length();
  }

  const BlockPlan& plan_;
  const bool is_a_;
  const int bits_;
  const bool packed_;
  const bool has_rows_;  // its rows of blocks are the outer loop
  Lines all_;
  std::map<Count, Lines> rows_;
  Scope scope_ = Scope::step;
  Count buffer_ = 0;
  std::set<LineId> there_;
};

// Of the norm's x beside an output; 0 where a drain needs none.
int x_bits(const BlockJob& job) { return job.statistics == DrainStatistics::backward ? job.x_bits : 0; }

// In C, where an element of x has room beside its sum.
Count largest_block(const BlockJob& job, const BlockPlan& plan) {
  Count largest = 0;
  for (const PlannedBlock& block : plan.blocks)
    largest = std::max(largest, bytes_of(block.outputs, job.sum_bits + x_bits(job)));
  return largest;
}

}  // namespace

Traffic plan_traffic(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                     const BlockPlan& plan) {
  Traffic traffic;
  const Count block_bytes = largest_block(job, plan);
  traffic.two_blocks = 2 * block_bytes <= arch.c_buffer_bytes;
  if (block_bytes > arch.c_buffer_bytes) throw std::invalid_argument("a block's sums do not fit");
  Operand a(job, mapping, plan, true);
  Operand b(job, mapping, plan, false);
  a.choose_scope(arch.a_buffer_bytes);
  b.choose_scope(arch.b_buffer_bytes);

  const auto steps = static_cast<Count>(plan.steps.size());
  const auto blocks = static_cast<Count>(plan.blocks.size());
  std::set<Count> not_queued;  // blocks whose write-back has no place yet
  for (Count block = 0; block < blocks; ++block) not_queued.insert(block);
  const auto write_back = [&](Count block) {
    const Count bytes = bytes_of(plan.blocks[block].outputs, job.c_bits);
    traffic.queue.push_back(
        {.kind = PlannedTransfer::Kind::write_back, .of = block, .bytes = bytes, .buffer_bytes = bytes});
  };
  for (Count i = 0; i < steps; ++i) {
    for (Operand* operand : {&a, &b}) {
      operand->go_on_to(i);
      const Lines missing = operand->missing(i);
      if (missing.empty()) continue;
      traffic.queue.push_back({.kind = PlannedTransfer::Kind::load,
                               .of = i,
                               .bytes = operand->dram_bytes(missing),
                               .buffer_bytes = operand->bytes(missing),
                               .early = operand->early(i)});
    }
    // Behind these loads stands the block before the one that this step, or the step before it, opens.
    const Count opener = traffic.two_blocks ? i - 1 : i;
    for (Count block = 0; block + 1 < blocks; ++block) {
      if (plan.blocks[block + 1].first_step == opener) {
        write_back(block);
        not_queued.erase(block);
      }
    }
    if (x_bits(job) > 0 && plan.steps[i].opens) {
      const Count block = plan.steps[i].block;
      const Count bytes = bytes_of(plan.blocks[block].outputs, job.x_bits);
      traffic.queue.push_back(
          {.kind = PlannedTransfer::Kind::norm_x, .of = block, .bytes = bytes, .buffer_bytes = bytes});
    }
  }
  for (const Count block : not_queued) write_back(block);

  const Count outputs = job.outputs.elements();
  traffic.tensor_bytes = a.tensor_bytes() + b.tensor_bytes() + bytes_of(outputs, job.c_bits) +
                         (x_bits(job) > 0 ? bytes_of(outputs, job.x_bits) : 0);
  return traffic;
}

BufferNeeds buffer_needs(const BlockJob& job, const BlockMapping& mapping, const BlockPlan& plan) {
  return {.a = Operand(job, mapping, plan, true).needs(),
          .b = Operand(job, mapping, plan, false).needs(),
          .c = largest_block(job, plan)};
}

}  // namespace mantissa::test
