// What `mantissa bench` measures: each kernel against a peer in the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/bench/openblas.hpp"

namespace mantissa::bench {

struct BenchSettings {
  int size = 1024;                     // M = N = K
  std::int64_t elements = 16LL << 20;  // of tensors
  std::int64_t batch = 128;            // images of a layer
  std::int64_t image = 224;            // height and width of a whole step's images
  int repeat = 7;                      // best of
  std::uint64_t seed = 7;
};

struct BenchRow {
  std::string name;
  std::string unit;  // of both rates
  std::string peer;
  std::string simd;  // target of the kernel
  double rate = 0;
  double peer_rate = 0;
  std::optional<double> target;  // what the ratio should reach

  double ratio() const { return rate / peer_rate; }
};

struct BenchListener {
  std::function<void(std::size_t done, std::size_t total, const std::string& next)> starting;
  std::function<void(const BenchRow&)> measured;
};

// Measures row after row.
void run_bench(const BenchSettings& settings, const OpenBlas& blas, const BenchListener& listener);

}  // namespace mantissa::bench
