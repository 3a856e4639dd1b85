#include "sim/arch/block_loads.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "sim/arch/buffer_too_small.hpp"
#include "sim/arch/sizes.hpp"

namespace mantissa {
namespace {

// A set of lines of an operand, and how many elements they have.
class LineSet {
 public:
  explicit LineSet(const BlockOperand& operand)
      : operand_(operand),
        words_(static_cast<std::size_t>(operand.outers * operand.groups * operand.words())) {}

  struct Added {
    std::int64_t elements = 0;
    std::int64_t packed_bytes = 0;  // where lines are packed
  };
  // Adds a step's lines; returns those that were not there.
  Added add(const BlockPiece& piece) {
    Added added;
    for_each(piece, [&](std::uint64_t& word, std::uint64_t lines, std::int64_t elements) {
      std::uint64_t fresh = lines & ~word;
      added.elements += std::popcount(fresh) * elements;
      word |= lines;
      if (operand_.line_bytes.empty()) return;
      const std::int64_t at = &word - words_.data();
      const std::int64_t first = at / operand_.words() * operand_.lines + at % operand_.words() * 64;
      for (; fresh != 0; fresh &= fresh - 1)
        added.packed_bytes += operand_.line_bytes[first + std::countr_zero(fresh)];
    });
    elements_ += added.elements;
    return added;
  }
  // The lines of one step alone.
  void remove(const BlockPiece& piece) {
    for_each(piece, [&](std::uint64_t& word, std::uint64_t lines, std::int64_t elements) {
      elements_ -= std::popcount(lines & word) * elements;
      word &= ~lines;
    });
  }
  // Only what the other set has, too.
  void keep(const LineSet& other) {
    elements_ = 0;
    const std::int64_t words = operand_.words();
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= other.words_[i];
      if (words_[i] != 0)
        elements_ += std::popcount(words_[i]) * operand_.line_elements[i / static_cast<std::size_t>(words)];
    }
  }
  void clear() {
    std::fill(words_.begin(), words_.end(), 0);
    elements_ = 0;
  }
  std::int64_t bytes() const { return packed_bytes(elements_, operand_.bits); }
  std::int64_t elements() const { return elements_; }

 private:
  template <class Visit>
  void for_each(const BlockPiece& piece, const Visit& visit) {
    const std::int64_t words = operand_.words();
    for (std::int64_t group = piece.group0; group < piece.group1; ++group) {
      const std::int64_t place = piece.outer * operand_.groups + group;
      const std::vector<std::uint64_t>& lines = operand_.line_sets[piece.lines];
      for (std::int64_t i = 0; i < words; ++i)
        if (lines[i] != 0) visit(words_[place * words + i], lines[i], operand_.line_elements[place]);
    }
  }

  const BlockOperand& operand_;
  std::vector<std::uint64_t> words_;
  std::int64_t elements_ = 0;
};

class Loads {
 public:
  Loads(const BlockOperand& operand, const std::vector<BlockStep>& steps, std::int64_t buffer_bytes)
      : operand_(operand), steps_(steps), buffer_bytes_(buffer_bytes) {}

  bool all_fit() const {
    LineSet lines(operand_);
    for (const BlockPiece& piece : operand_.pieces) {
      lines.add(piece);
      if (lines.bytes() > buffer_bytes_) return false;
    }
    return true;
  }
  bool rows_fit() const {
    if (!operand_.row_scope) return false;
    LineSet lines(operand_);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (i > 0 && steps_[i].row != steps_[i - 1].row) lines.clear();
      lines.add(operand_.pieces[i]);
      if (lines.bytes() > buffer_bytes_) return false;
    }
    return true;
  }
  // Of the largest step.
  std::int64_t step_bytes() const {
    std::int64_t most = 0;
    LineSet lines(operand_);
    for (const BlockPiece& piece : operand_.pieces) {
      lines.add(piece);
      most = std::max(most, lines.bytes());
      lines.remove(piece);
    }
    return most;
  }

  void of_all(BlockLoads& loads) const {
    LineSet here(operand_);
    for (const BlockPiece& piece : operand_.pieces) load(loads, here.add(piece), 0);
  }
  void of_steps(BlockLoads& loads) const {
    LineSet here(operand_);
    LineSet step(operand_);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      load(loads, here.add(operand_.pieces[i]), before);
      // Nothing but this step's lines stays.
      step.add(operand_.pieces[i]);
      if (i > 0) here.remove(operand_.pieces[i - 1]);
      here.add(operand_.pieces[i]);
      before = step.elements();
      step.remove(operand_.pieces[i]);
    }
  }
  void of_rows(BlockLoads& loads) const {
    LineSet here(operand_);
    LineSet row(operand_);
    std::int64_t kept = 0;  // of the row before, all of it
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const bool opens_row = i == 0 || steps_[i].row != steps_[i - 1].row;
      load(loads, here.add(operand_.pieces[i]), opens_row ? kept : 0);
      if (!opens_row) continue;
      row.clear();
      for (std::size_t j = i; j < steps_.size() && steps_[j].row == steps_[i].row; ++j)
        row.add(operand_.pieces[j]);
      here.keep(row);
      kept = row.elements();
    }
  }

 private:
  // `beside`: elements that the step before keeps, 0 where both are known to fit.
  void load(BlockLoads& loads, const LineSet::Added& added, std::int64_t beside) const {
    const std::int64_t stored = packed_bytes(added.elements, operand_.bits);
    loads.stored += stored;
    loads.bytes.push_back(operand_.line_bytes.empty() ? stored : added.packed_bytes);
    loads.early.push_back(packed_bytes(added.elements + beside, operand_.bits) <= buffer_bytes_);
  }

  const BlockOperand& operand_;
  const std::vector<BlockStep>& steps_;
  std::int64_t buffer_bytes_;
};

}  // namespace

std::string_view name_of(BlockScope scope) {
  switch (scope) {
    case BlockScope::all:
      return "all";
    case BlockScope::row:
      return "row";
    case BlockScope::step:
      return "step";
  }
  throw std::logic_error("a scope without a name");
}

BlockLoads block_loads(const BlockOperand& operand, const std::vector<BlockStep>& steps,
                       std::int64_t buffer_bytes, const std::string& key) {
  const Loads ways(operand, steps, buffer_bytes);
  BlockLoads loads;
  loads.bytes.reserve(steps.size());
  if (ways.all_fit()) {
    ways.of_all(loads);
    return loads;
  }
  if (ways.rows_fit()) {
    loads.scope = BlockScope::row;
    ways.of_rows(loads);
    return loads;
  }
  const std::int64_t needed = ways.step_bytes();
  if (needed > buffer_bytes) {
    throw BufferTooSmall(key, buffer_bytes, needed,
                         fmt::format("the lines of one step take {} bytes", needed));
  }
  loads.scope = BlockScope::step;
  ways.of_steps(loads);
  return loads;
}

}  // namespace mantissa
