// GF(2) matrices against definitions: images bit by bit, powers by repetition.
#include "models/random/gf2.hpp"

#include <gtest/gtest.h>

#include "testbench/support/operands.hpp"

namespace mantissa {
namespace {

Gf2Matrix random_matrix(test::Random& random) {
  Gf2Matrix matrix;
  for (std::uint32_t& column : matrix.column) column = static_cast<std::uint32_t>(random());
  return matrix;
}

TEST(Gf2Matrix, ImageIsTheSumOfColumns) {
  test::Random random(1);
  const Gf2Matrix matrix = random_matrix(random);
  for (int i = 0; i < 1000; ++i) {
    const auto vector = static_cast<std::uint32_t>(random());
    std::uint32_t image = 0;
    for (int bit = 0; bit < 32; ++bit) {
      if ((vector >> bit & 1) != 0) image ^= matrix.column[bit];
    }
    EXPECT_EQ(matrix * vector, image);
    EXPECT_EQ(Gf2Matrix::identity() * vector, vector);
    EXPECT_EQ(Gf2Table(matrix) * vector, image);
  }
}

TEST(Gf2Matrix, ProductAppliesTheRightOneFirst) {
  test::Random random(2);
  const Gf2Matrix left = random_matrix(random);
  const Gf2Matrix right = random_matrix(random);
  for (int i = 0; i < 1000; ++i) {
    const auto vector = static_cast<std::uint32_t>(random());
    EXPECT_EQ((left * right) * vector, left * (right * vector));
  }
}

TEST(Gf2Matrix, PowerRepeats) {
  test::Random random(3);
  const Gf2Matrix matrix = random_matrix(random);
  Gf2Matrix repeated = Gf2Matrix::identity();
  for (std::uint64_t n = 0; n < 40; ++n) {
    EXPECT_EQ(matrix.power(n), repeated) << n;
    repeated = matrix * repeated;
  }
}

}  // namespace
}  // namespace mantissa
