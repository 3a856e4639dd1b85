// Statistics at the drain, for cases of the second machine: which they have, and what they should be.
#include <array>
#include <cmath>
#include <sstream>

#include "models/norm/range_bn.hpp"
#include "sim/arch/block_plan.hpp"
#include "testbench/machine/block_cases.hpp"
#include "testbench/machine/machine_cases.hpp"
#include "testbench/machine/one_of.hpp"

namespace mantissa::test {
namespace {

std::vector<float> numbers(std::mt19937_64& engine, std::int64_t count) {
  std::normal_distribution<float> normal(1, 2);
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& number : all) number = normal(engine);
  return all;
}

// A channel of the results, or of a tensor like them, as numbers.
template <class Element>
std::vector<float> channel_values(const Rectangle& rows, const Element& element) {
  std::vector<float> values;
  for (std::int64_t row = rows.row0; row < rows.row1; ++row) values.push_back(element(row));
  return values;
}

// Four sums in plain floats: terms by place, part by part.
class PartSums {
 public:
  PartSums(std::int64_t elements, std::int64_t parts)
      : length_(static_cast<std::size_t>(elements / parts)), sums_(static_cast<std::size_t>(parts)) {}
  void add(std::size_t place, std::size_t sum, float term) { sums_.at(place / length_)[sum] += term; }
  std::array<float, 4> totals() const {
    std::array<float, 4> all = {};
    for (const std::array<float, 4>& part : sums_) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
    }
    return all;
  }

 private:
  std::size_t length_;
  std::vector<std::array<float, 4>> sums_;
};

}  // namespace

void add_statistics(std::mt19937_64& engine, BlockCase& made) {
  OwnedPass& pass = made.pass;
  if (pass.pass == Pass::weight_gradient) return;
  pass.statistics = one_of(engine, {DrainStatistics::forward, DrainStatistics::backward});
  // One divides the other, as norms have them, or not.
  for (const std::int64_t parts : {2, 3, 4, 8}) {
    if (pass.outputs.rows() % parts == 0 && engine() % 3 == 0) pass.parts = parts;
  }
  pass.scale = static_cast<int>(engine() % 5) - 2;
  if (pass.statistics == DrainStatistics::forward) {
    for (const std::int64_t chunks : {2, 3, 4}) {
      if (pass.outputs.rows() % chunks == 0 && engine() % 2 == 0) pass.chunks = chunks;
    }
    return;
  }
  const PassSides sides = sides_of(pass.shape, pass.pass);
  const std::int64_t channels = sides.n * pass.shape.groups;
  pass.x_format = one_of(engine, {formats::e5m2, Format::parse("e3m2")});
  pass.x = random_codes(engine, pass.x_format, sides.m * channels, 0.8, engine() % 8 == 0);
  pass.gamma = numbers(engine, channels);
  pass.mean = numbers(engine, channels);
  pass.inv = numbers(engine, channels);
  BlockJob shape = shape_of(pass.job(made.arch, made.formats), made.formats);
  shape.packed = false;  // blocks do not depend on it
  const BlockPlan plan(made.arch, shape, pass.mapping);
  const std::int64_t x_bytes = plan.largest_block().elements() * pass.x_format.bits() / 8 + 1;
  made.arch.c_buffer_bytes += x_bytes * one_of<std::int64_t>(engine, {1, 1, 2});
}

std::vector<ChannelStatistics> golden_statistics(const BlockArrayJob& job, const ArrayFormats& formats,
                                                 const std::vector<std::uint32_t>& codes) {
  const DrainStatisticsJob& norm = job.statistics;
  const Rectangle& out = job.outputs;
  std::vector<ChannelStatistics> all;
  for (std::int64_t col = out.col0; col < out.col1; ++col) {
    const std::vector<float> drained = channel_values(out, [&](std::int64_t row) {
      const std::uint32_t code = codes[(row - out.row0) * out.cols() + col - out.col0];
      return std::ldexp(fp32_value(convert(code, {.from = formats.result()}).code), -norm.scale);
    });
    ChannelStatistics& channel = all.emplace_back();
    PartSums parts(out.rows(), norm.parts);
    if (norm.kind == DrainStatistics::forward) {
      RangeBnRegisters registers;
      registers.chunk_length = out.rows() / norm.chunks;
      const RangeBnSaved saved = range_bn_statistics(drained, registers);
      channel.argmax = saved.argmax;
      channel.argmin = saved.argmin;
      for (std::size_t chunk = 0; chunk < saved.argmax.size(); ++chunk) {
        const std::size_t end = (chunk + 1) * static_cast<std::size_t>(registers.chunk_length) - 1;
        parts.add(end, 1, drained[saved.argmax[chunk]]);
        parts.add(end, 2, drained[saved.argmin[chunk]]);
      }
      for (std::size_t i = 0; i < drained.size(); ++i) {
        parts.add(i, 0, drained[i]);
        channel.has_nan = channel.has_nan || std::isnan(drained[i]);
      }
      channel.sums = parts.totals();
    } else {
      const std::int64_t pixels =
          job.pass == Pass::forward ? job.shape.out[0] * job.shape.out[1] : job.shape.in[0] * job.shape.in[1];
      const std::int64_t channels =
          job.pass == Pass::forward ? job.shape.out_channels : job.shape.in_channels;
      std::vector<float> x(norm.x.size());
      norm.x.decode(x);
      const std::vector<float> normed = channel_values(out, [&](std::int64_t row) {
        return x[row / pixels * channels * pixels + col * pixels + row % pixels];
      });
      for (std::size_t i = 0; i < normed.size(); ++i) {
        const float xhat = (normed[i] - norm.mean[col]) * norm.inv[col];
        const float h = norm.gamma[col] * drained[i];
        parts.add(i, 0, drained[i]);
        parts.add(i, 1, h);
        parts.add(i, 2, drained[i] * xhat);
        parts.add(i, 3, h * xhat);
      }
      channel.sums = parts.totals();
    }
  }
  return all;
}

std::string difference(const std::vector<ChannelStatistics>& expected,
                       const std::vector<ChannelStatistics>& actual) {
  std::ostringstream text;
  if (expected.size() != actual.size()) return "other numbers of channels";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t sum = 0; sum < 4; ++sum) {
      const float want = expected[i].sums[sum];
      const float got = actual[i].sums[sum];
      if (fp32_bits(want) == fp32_bits(got) || (std::isnan(want) && fp32_bits(got) == 0x7FC00000)) continue;
      text << "sum " << sum << " of channel " << i << " is " << got << ", expected " << want;
      return text.str();
    }
    if (expected[i].argmax == actual[i].argmax && expected[i].argmin == actual[i].argmin &&
        expected[i].has_nan == actual[i].has_nan) {
      continue;
    }
    text << "extremes of channel " << i;
    return text.str();
  }
  return {};
}

}  // namespace mantissa::test
