// Any number of values that a signal handler can read while threads add and remove them.
#pragma once

#include <array>
#include <atomic>

namespace mantissa {

// Blocks of slots; a block stays until the program ends, so that a handler may walk through them at any time.
// A slot with Value{} is free. No destructor runs: a handler may come that late.
template <typename Value>
class SignalNotes {
 public:
  void add(Value value) {
    for (Block* block = &first_;; block = next_of(*block)) {
      for (auto& slot : block->slots) {
        Value free{};
        if (slot.compare_exchange_strong(free, value)) return;
      }
    }
  }

  void remove(Value value) noexcept {
    for (Block* block = &first_; block != nullptr; block = block->next.load()) {
      for (auto& slot : block->slots) {
        Value own = value;
        if (slot.compare_exchange_strong(own, Value{})) return;
      }
    }
  }

  // For a child that has inherited its parent's.
  void clear() noexcept {
    for (Block* block = &first_; block != nullptr; block = block->next.load()) {
      for (auto& slot : block->slots) slot.store(Value{});
    }
  }

  template <typename Use>
  void for_each(const Use& use) const noexcept {
    for (const Block* block = &first_; block != nullptr; block = block->next.load()) {
      for (const auto& slot : block->slots) {
        const Value value = slot.load();
        if (value != Value{}) use(value);
      }
    }
  }

 private:
  static_assert(std::atomic<Value>::is_always_lock_free);
  struct Block {
    std::array<std::atomic<Value>, 32> slots{};
    std::atomic<Block*> next{nullptr};
  };

  static Block* next_of(Block& block) {
    Block* next = block.next.load();
    if (next != nullptr) return next;
    auto* const made = new Block;
    if (block.next.compare_exchange_strong(next, made)) return made;
    delete made;  // another thread was faster
    return next;
  }

  Block first_;
};

}  // namespace mantissa
