// Why two samples: least squares by gradient descent on quantised data. With one sample the gradient
// Q(a)(Q(a).x - b) is off by Var(Q(a)) x and descent ends at a shrunk solution; with two it ends at the right
// one.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "models/mac/stream_id.hpp"
#include "models/sampling/double_sampler.hpp"

namespace mantissa {
namespace {

constexpr std::size_t features = 3;
constexpr std::size_t rows = 40;
constexpr int intervals = 2;
using Vector = std::array<double, features>;

struct Problem {
  std::vector<float> a;  // rows x features, in [-1, 1]
  std::array<double, rows> b{};
};

Problem make_problem() {
  std::mt19937 engine(17);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  Problem problem;
  const Vector truth{1.0, -2.0, 0.5};
  for (std::size_t k = 0; k < rows; ++k) {
    problem.b[k] = 0.1 * uniform(engine);
    for (std::size_t i = 0; i < features; ++i) {
      problem.a.push_back(uniform(engine));
      problem.b[k] += problem.a.back() * truth[i];
    }
  }
  return problem;
}

// Gaussian elimination on (A^T A + diagonal) x = A^T b.
Vector solve(const Problem& problem, const Vector& diagonal) {
  std::array<std::array<double, features + 1>, features> m{};
  for (std::size_t i = 0; i < features; ++i) {
    m[i][i] = diagonal[i];
    for (std::size_t k = 0; k < rows; ++k) {
      const double ai = problem.a[k * features + i];
      for (std::size_t j = 0; j < features; ++j) m[i][j] += ai * problem.a[k * features + j];
      m[i][features] += ai * problem.b[k];
    }
  }
  for (std::size_t pivot = 0; pivot < features; ++pivot) {
    for (std::size_t i = 0; i < features; ++i) {
      if (i == pivot) continue;
      const double factor = m[i][pivot] / m[pivot][pivot];
      for (std::size_t j = pivot; j <= features; ++j) m[i][j] -= factor * m[pivot][j];
    }
  }
  Vector x{};
  for (std::size_t i = 0; i < features; ++i) x[i] = m[i][features] / m[i][i];
  return x;
}

// D_i = sum over rows of Var Q(a_i) = step^2 f (1 - f).
Vector sampling_variance(const Problem& problem) {
  Vector d{};
  for (std::size_t e = 0; e < problem.a.size(); ++e) {
    const double position = std::abs(problem.a[e]) * intervals;
    const double f = position - std::floor(position);
    d[e % features] += f * (1 - f) / (intervals * intervals);
  }
  return d;
}

// Full-batch descent with fresh samples in every epoch; the mean of the iterates once settled.
Vector descend(const Problem& problem, bool two_samples) {
  const DoubleSampler sampler(1.0F, intervals, 16);
  constexpr int settling = 2000;
  constexpr int averaged = 18000;
  Vector x{};
  Vector mean{};
  for (int epoch = 0; epoch < settling + averaged; ++epoch) {
    const StreamId stream{.step = static_cast<std::uint32_t>(epoch), .unit = RandomUnit::double_sampler};
    const std::vector<DoubleSample> samples =
        sampler.sample(problem.a, {.run_seed = 1, .stream = stream.value(), .lanes = 16});
    Vector gradient{};
    for (std::size_t k = 0; k < rows; ++k) {
      const auto q = [&](std::size_t i, int which) -> double {
        return sampler.value(samples[k * features + i], which);
      };
      double residual = -problem.b[k];
      for (std::size_t i = 0; i < features; ++i) residual += q(i, two_samples ? 1 : 0) * x[i];
      for (std::size_t i = 0; i < features; ++i) gradient[i] += q(i, 0) * residual / rows;
    }
    for (std::size_t i = 0; i < features; ++i) {
      x[i] -= 0.05 * gradient[i];
      if (epoch >= settling) mean[i] += x[i] / averaged;
    }
  }
  return mean;
}

TEST(DoubleSampling, LeastSquaresConvergesToTheRightSolution) {
  const Problem problem = make_problem();
  const Vector right = solve(problem, {});
  const Vector x = descend(problem, true);
  for (std::size_t i = 0; i < features; ++i) EXPECT_NEAR(x[i], right[i], 0.01) << i;
}

TEST(DoubleSampling, OneSampleConvergesToTheShrunkSolution) {
  const Problem problem = make_problem();
  const Vector right = solve(problem, {});
  const Vector shrunk = solve(problem, sampling_variance(problem));
  const Vector x = descend(problem, false);
  for (std::size_t i = 0; i < features; ++i) EXPECT_NEAR(x[i], shrunk[i], 0.01) << i;
  // The bias is no accident of sampling: it is many times the tolerance of the test above.
  EXPECT_GT(std::abs(x[1] - right[1]), 0.15);
}

TEST(DoubleSampling, ProductOfTwoSamplesIsUnbiasedTheSquareOfOneIsNot) {
  const DoubleSampler sampler(1.0F, 2, 16);
  const std::size_t n = 200000;
  const float v = 0.3F;
  const std::vector<DoubleSample> samples =
      sampler.sample(std::vector<float>(n, v), {.run_seed = 9, .stream = 4, .lanes = 16});
  double mean = 0;
  double product = 0;
  double square = 0;
  for (const DoubleSample& sample : samples) {
    const double q1 = sampler.value(sample, 0);
    const double q2 = sampler.value(sample, 1);
    mean += q1 / n;
    product += q1 * q2 / n;
    square += q1 * q1 / n;
  }
  // v lies at 0.6 of a level of 0.5: Var = 0.25 * 0.6 * 0.4 = 0.06.
  const double sigma = 0.25 / std::sqrt(n);  // at most, of each of the three means
  EXPECT_NEAR(mean, v, 5 * sigma);
  EXPECT_NEAR(product, 0.09, 5 * sigma);
  EXPECT_NEAR(square, 0.15, 5 * sigma);
}

}  // namespace
}  // namespace mantissa
