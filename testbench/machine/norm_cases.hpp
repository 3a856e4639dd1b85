// Batch norms for machines, and what the golden models and the closed form say of them.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sim/machine/norm_job.hpp"
#include "sim/machine/norm_stream.hpp"

namespace mantissa::test {

// A layer with its tensors, as they are recorded and as they lie in memory.
struct NormCase {
  enum class Storage : std::uint8_t { fp32, codes, integers_16, eight_bit_mode };

  NormShape shape;
  RangeBnTensorConfig config = {};
  Storage storage = Storage::fp32;
  Format format = formats::e5m2;  // of codes
  int scale = 0;
  std::optional<Conversion> drain = std::nullopt;
  std::uint64_t run_seed = 1;
  std::vector<float> x = {};
  std::vector<float> g = {};
  std::vector<float> gamma = {};
  std::vector<float> beta = {};

  std::string text() const;
};

// The case in memory, and what comes of it. Jobs point into it.
class NormAnswer {
 public:
  explicit NormAnswer(const NormCase& norm);
  NormAnswer(const NormAnswer&) = delete;
  NormAnswer& operator=(const NormAnswer&) = delete;

  NormJob job(NormDirection direction) const;
  // Of some channels; `inv_range` is then that of all.
  NormJob part(NormDirection direction, std::int64_t first_channel, std::int64_t channels) const;
  // The second pass alone, with the statistics of the first.
  NormStreamJob second_pass(NormDirection direction) const;
  NormRun expected(const Architecture& arch, const NormJob& job) const;
  // Of the whole tensor, in its order.
  const std::vector<std::uint32_t>& results(NormDirection direction) const {
    return direction == NormDirection::forward ? y_ : dx_;
  }

 private:
  // x or g, as it lies in memory and as the unit takes it.
  struct Tensor {
    std::vector<float> used;
    std::vector<std::uint8_t> codes;
    std::vector<std::uint16_t> integers;
    GemmlowpRange range;
  };
  Tensor store(const std::vector<float>& values, Rounding rounding, const DrawSource& draws) const;
  EncodedTensor stored(const Tensor& tensor) const;
  std::vector<std::uint32_t> drained(const std::vector<float>& values, NormDirection direction) const;
  DrawSource drain_draws(NormDirection direction) const;

  const NormCase& norm_;
  Tensor x_;
  Tensor g_;
  RangeBnTensorSaved saved_;
  RangeBnTensorGradients gradients_;
  std::vector<std::uint32_t> y_;
  std::vector<std::uint32_t> dx_;
};

// Shapes, chunks, lanes, buffers, DRAM, formats of all kinds; some Inf and NaN.
NormCase random_norm(std::mt19937_64& engine, std::int64_t most_channels, std::int64_t most_elements);
Architecture random_norm_machine(std::mt19937_64& engine, int lanes);
// With room for x and g beside each other, and several transfers in flight.
Architecture random_stream_machine(std::mt19937_64& engine, int lanes);

// Empty: equal. Otherwise the first thing that is not.
std::string difference(const NormRun& expected, const NormRun& actual);

}  // namespace mantissa::test
