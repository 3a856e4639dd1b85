// Statistics of batch norms that the simulated drain takes, compared with the golden sums.
#include <fmt/core.h>

#include <optional>

#include "models/norm/range_bn.hpp"
#include "sim/replay/block_check.hpp"
#include "sim/replay/block_check_job.hpp"
#include "sim/replay/difference.hpp"

namespace mantissa::replay {
namespace {

bool same_statistics(const ChannelStatistics& a, const ChannelStatistics& b) {
  for (std::size_t i = 0; i < a.sums.size(); ++i) {
    if (fp32_bits(a.sums[i]) != fp32_bits(b.sums[i])) return false;
  }
  return a.argmax == b.argmax && a.argmin == b.argmin && a.has_nan == b.has_nan;
}

// Of a channel whose elements value(row) are those of the rows.
template <class Value>
ChannelStatistics forward_statistics(const Rectangle& rows, const DrainStatisticsJob& norm,
                                     const Value& value) {
  ChannelStatistics statistics;
  RangeBnSums sums;
  RangeBnSums total;
  const std::int64_t chunk_length = rows.rows() / norm.chunks;
  const std::int64_t part_length = rows.rows() / norm.parts;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const bool ends = (i + 1) % chunk_length == 0;
    sums.add(value(rows.row0 + i), i, i % chunk_length == 0, ends);
    if (ends) {
      statistics.argmax.push_back(sums.argmax);
      statistics.argmin.push_back(sums.argmin);
    }
    if ((i + 1) % part_length == 0) sums.end_part(total);
  }
  statistics.has_nan = total.has_nan;
  statistics.sums = {total.x, total.maxima, total.minima, 0.0F};
  return statistics;
}

}  // namespace

// Of a part of the rows there are no chunks and no parts: its rows are one.
DrainStatisticsJob BlockCheck::statistics_job(const Check& check, const Rectangle& outputs) const {
  const GemmPass& pass = check.pass;
  DrainStatisticsJob job;
  job.kind = pass.statistics;
  job.scale = check.result.output_scale;
  if (outputs.rows() == check.result.sides.m) {
    if (job.kind == DrainStatistics::forward) job.chunks = pass.chunks;
    job.parts = pass.parts;
  }
  if (job.kind != DrainStatistics::backward) return job;
  job.x = pass.norm->x.value().encoded;
  job.gamma = pass.norm->gamma;
  job.mean = pass.norm->mean;
  job.inv = pass.norm->inv;
  return job;
}

void BlockCheck::compare_statistics(const Check& check, const BlockArrayJob& job,
                                    const std::vector<ChannelStatistics>& actual,
                                    const std::string& place) const {
  const DrainStatisticsJob& norm = job.statistics;
  if (norm.kind == DrainStatistics::none) return;
  const std::int64_t m = check.result.sides.m;
  const std::int64_t n = check.result.sides.n;
  const Rectangle& out = job.outputs;
  const ResultTensor tensor = results_of(job);
  const ElementDecoder x(norm.x);
  for (std::int64_t col = out.col0; col < out.col1; ++col) {
    const auto value = [&](std::int64_t row) {
      return check.result.values[(col / n * m + row) * n + col % n];
    };
    ChannelStatistics expected;
    if (norm.kind == DrainStatistics::forward) {
      expected = forward_statistics(out, norm, value);
    } else {
      const std::int64_t part_length = out.rows() / norm.parts;
      GradientSums part;
      GradientSums sums;
      for (std::int64_t row = out.row0; row < out.row1; ++row) {
        part.add(x(norm.x.element(tensor.place(row, col))), value(row), norm.gamma[col], norm.mean[col],
                 norm.inv[col]);
        if ((row + 1 - out.row0) % part_length == 0) part.end_part(sums);
      }
      expected.sums = {sums.g, sums.h, sums.g_xhat, sums.h_xhat};
    }
    const ChannelStatistics& got = actual.at(col - out.col0);
    if (same_statistics(expected, got)) continue;
    throw Difference(fmt::format(
        "MISMATCH between engine {} and the golden model, {}: statistics of channel {} are {} {} {} {}, "
        "expected {} {} {} {}, or their extremes stand elsewhere\n{}",
        options_.engine, place, col, got.sums[0], got.sums[1], got.sums[2], got.sums[3], expected.sums[0],
        expected.sums[1], expected.sums[2], expected.sums[3], again(options_)));
  }
}

}  // namespace mantissa::replay
