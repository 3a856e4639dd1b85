// Random choices of the machines and jobs that tests make up: the same for the same state of the generator,
// whatever the standard library, whose distributions differ from one to the next.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace mantissa::test {

class Dice {
 public:
  explicit Dice(std::mt19937_64& random) : random_(random) {}

  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return *(values.begin() + pick(0, static_cast<std::int64_t>(values.size()) - 1));
  }

 private:
  std::mt19937_64& random_;
};

}  // namespace mantissa::test
