// Elements that a tensor owns, or looks at where somebody else keeps them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mantissa {

template <class T>
class Elements {
 public:
  std::span<const T> get() const { return looks_ ? seen_ : std::span<const T>(own_); }
  // Room for its own elements; memory that it had is used again.
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
  std::vector<T> own_;
  std::span<const T> seen_;
  bool looks_ = false;
};

}  // namespace mantissa
