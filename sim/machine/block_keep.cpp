#include "sim/machine/block_keep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "sim/arch/sizes.hpp"

namespace mantissa {

void LineSet::add(std::int64_t line) {
  if (in_[line]) return;
  in_[line] = true;
  members_.push_back(line);
  elements_ += lines_.elements(line);
}

void LineSet::clear() {
  for (const std::int64_t line : members_) in_[line] = false;
  members_.clear();
  elements_ = 0;
}

void LineSet::retain(const LineSet& other) {
  std::erase_if(members_, [&](std::int64_t line) {
    if (other.has(line)) return false;
    in_[line] = false;
    elements_ -= lines_.elements(line);
    return true;
  });
}

std::int64_t LineSet::bytes() const { return packed_bytes(elements_, lines_.bits()); }

BlockKeep::BlockKeep(const BlockPlan& plan, const BlockLines& lines, std::int64_t buffer_bytes,
                     const std::string& key)
    : plan_(plan),
      lines_(lines),
      bytes_(buffer_bytes),
      sets_{Kept{.lines = LineSet(lines)}, Kept{.lines = LineSet(lines)}},
      together_(lines) {
  if (fits(Scope::all)) return;
  scope_ = lines.operand().row_scope && fits(Scope::row) ? Scope::row : Scope::step;
  if (scope_ == Scope::row || fits(Scope::step)) return;
  std::int64_t most = 0;
  for (std::int64_t step = 0; step < steps(); ++step) {
    together_.clear();
    for (const std::int64_t line : lines_.needed(step)) together_.add(line);
    most = std::max(most, together_.bytes());
  }
  throw std::invalid_argument(fmt::format(
      "{} {} is too small for this mapping: the lines of one step take {} bytes", key, buffer_bytes, most));
}

std::int64_t BlockKeep::scope_of(std::int64_t step, Scope scope) const {
  switch (scope) {
    case Scope::all:
      return 0;
    case Scope::row:
      return plan_.steps()[step].row;
    case Scope::step:
      return step;
  }
  throw std::logic_error("a scope that there is not");
}

bool BlockKeep::fits(Scope scope) const {
  LineSet lines(lines_);
  for (std::int64_t step = 0; step < steps(); ++step) {
    if (step > 0 && scope_of(step, scope) != scope_of(step - 1, scope)) lines.clear();
    for (const std::int64_t line : lines_.needed(step)) lines.add(line);
    if (lines.bytes() > bytes_) return false;
  }
  return true;
}

const LineSet& BlockKeep::kept(std::int64_t step) {
  const std::int64_t scope = scope_of(step, scope_);
  Kept& kept = sets_[scope % 2];
  if (kept.scope == scope) return kept.lines;
  kept.scope = scope;
  kept.lines.clear();
  std::int64_t first = step;
  while (first > 0 && scope_of(first - 1, scope_) == scope) --first;
  for (std::int64_t i = first; i < steps() && scope_of(i, scope_) == scope; ++i) {
    for (const std::int64_t line : lines_.needed(i)) kept.lines.add(line);
  }
  return kept.lines;
}

bool BlockKeep::changes(std::int64_t step) const {
  return step > 0 && scope_of(step, scope_) != scope_of(step - 1, scope_);
}

bool BlockKeep::early(std::int64_t step) {
  if (!changes(step)) return true;
  together_.clear();
  for (const std::int64_t line : kept(step - 1).members()) together_.add(line);
  for (const std::int64_t line : lines_.needed(step)) together_.add(line);
  return together_.bytes() <= bytes_;
}

}  // namespace mantissa
