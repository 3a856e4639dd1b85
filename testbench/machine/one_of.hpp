// A choice among values.
#pragma once

#include <initializer_list>
#include <random>

namespace mantissa::test {

template <class T>
T one_of(std::mt19937_64& engine, std::initializer_list<T> values) {
  return values.begin()[engine() % values.size()];
}

}  // namespace mantissa::test
