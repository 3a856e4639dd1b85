// What a buffer keeps of an operand while a step works: the lines R(i) of the scope that fits (ARITHMETIC.md
// 7, "What stays").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/machine/block_lines.hpp"

namespace mantissa {

// Lines without order, and how many elements they have. Keeps a reference.
class LineSet {
 public:
  explicit LineSet(const BlockLines& lines) : lines_(lines), in_(lines.count()) {}

  bool has(std::int64_t line) const { return in_[line]; }
  void add(std::int64_t line);
  void clear();
  // Only what the other set has, too.
  void retain(const LineSet& other);
  std::span<const std::int64_t> members() const { return members_; }
  std::int64_t bytes() const;

 private:
  const BlockLines& lines_;
  std::vector<bool> in_;
  std::vector<std::int64_t> members_;
  std::int64_t elements_ = 0;
};

// Keeps references. Made for steps in about ascending order, though any may be asked for.
class BlockKeep {
 public:
  // `key` names the buffer where the lines of a step do not fit it, which throws std::invalid_argument.
  BlockKeep(const BlockPlan& plan, const BlockLines& lines, std::int64_t buffer_bytes,
            const std::string& key);

  // R(step) is not R(step - 1).
  bool changes(std::int64_t step) const;
  // Until another step is asked for.
  const LineSet& kept(std::int64_t step);
  // There is room for what the step needs beside what the step before keeps.
  bool early(std::int64_t step);

 private:
  enum class Scope : std::uint8_t { all, row, step };
  // R(step) of the last scopes asked for.
  struct Kept {
    std::int64_t scope = -1;  // row, or step
    LineSet lines;
  };
  bool fits(Scope scope) const;
  std::int64_t steps() const { return static_cast<std::int64_t>(plan_.steps().size()); }
  // Steps of one R(i), numbered in the order of steps.
  std::int64_t scope_of(std::int64_t step, Scope scope) const;

  const BlockPlan& plan_;
  const BlockLines& lines_;
  std::int64_t bytes_;
  Scope scope_ = Scope::all;
  std::array<Kept, 2> sets_;
  LineSet together_;
};

}  // namespace mantissa
