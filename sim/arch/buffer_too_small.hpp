// A buffer that cannot hold what has to be in it at once, and the size that can.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/support/quantity.hpp"

namespace mantissa {

class BufferTooSmall : public std::invalid_argument {
 public:
  // `key` of the architecture, what it is and what it must be at least, both in bytes, and why.
  BufferTooSmall(std::string key, std::int64_t bytes, std::int64_t needed, std::string why)
      : std::invalid_argument(fmt::format("{} {} is too small: {}; at least {} would do", key,
                                          quantity_text(bytes, Unit::bytes), why,
                                          quantity_text(needed, Unit::bytes))),
        key_(std::move(key)),
        why_(std::move(why)),
        needed_(needed) {}

  const std::string& key() const { return key_; }
  const std::string& why() const { return why_; }
  std::int64_t needed() const { return needed_; }

 private:
  std::string key_;
  std::string why_;
  std::int64_t needed_;
};

}  // namespace mantissa
