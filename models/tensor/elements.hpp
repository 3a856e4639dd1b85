// Elements that a tensor owns, or looks at where somebody else keeps them.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace mantissa {

// Leaves new elements as they are: a matrix of millions is about to be written anyway.
template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class Other>
  struct rebind {
    using other = UninitialisedAllocator<Other>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <class T>
class Elements {
 public:
  std::span<const T> get() const { return looks_ ? seen_ : std::span<const T>(own_); }
  // Room for its own elements, to be written; memory that it had is used again.
  std::span<T> make(std::size_t count) {
    looks_ = false;
    own_.resize(count);
    return own_;
  }
  // They must outlive this, and every copy of it.
  void look_at(std::span<const T> elements) {
    looks_ = true;
    seen_ = elements;
  }

 private:
  std::vector<T, UninitialisedAllocator<T>> own_;
  std::span<const T> seen_;
  bool looks_ = false;
};

}  // namespace mantissa
