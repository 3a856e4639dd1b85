#include "testbench/machine/machine_cases.hpp"

#include <algorithm>
#include <sstream>

#include "models/array/mac_array.hpp"
#include "models/kernels/gemm_float.hpp"
#include "testbench/machine/one_of.hpp"

namespace mantissa::test {

std::vector<std::uint16_t> random_integer_elements(std::mt19937_64& engine, int bits, std::int64_t count,
                                                   double nonzero_share) {
  std::bernoulli_distribution nonzero(nonzero_share);
  std::vector<std::uint16_t> integers(count);
  // The largest ones are frequent: the sums need all their bits.
  for (std::uint16_t& q : integers) {
    const std::uint64_t drawn = engine() % 3 == 0 ? ~std::uint64_t{0} : engine();
    if (nonzero(engine)) q = static_cast<std::uint16_t>(drawn & ((1U << bits) - 1));
  }
  return integers;
}

namespace {

void fill_integers(std::mt19937_64& engine, const ArrayFormats& formats, OwnedJob& job) {
  std::normal_distribution<float> normal(0, 1);
  job.a_integers = random_integer_elements(engine, formats.a.bits(), job.m * job.k,
                                           static_cast<double>(engine() % 11) / 10);
  job.b_integers = random_integer_elements(engine, formats.b.bits(), job.k * job.n, 0.9);
  const auto range = [&](int bits) {
    const float scale = std::abs(normal(engine)) / 100;
    return GemmlowpRange{.bits = bits, .min = normal(engine), .scale = scale};
  };
  job.a_range = range(formats.a.bits());
  job.b_range = range(formats.b.bits());
}

ArrayRun golden_integers(const Architecture& arch, const ArrayFormats& formats, const ArrayJob& job) {
  std::vector<float> sums(job.m * job.n);
  const IntMatrix a = job.a.as<EncodedTensor::Integers>().matrix();
  kernels::int_gemm({job.m, job.n, job.k, a, job.b.as<EncodedTensor::Integers>().matrix()}, sums);
  ArrayRun run;
  run.flags.resize(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    run.codes.push_back(fp32_bits(job.bias.empty() ? sums[i] : sums[i] + job.bias[i % job.n]));
  std::vector<std::uint16_t> counts;
  for (std::int64_t row = 0; row < job.m; ++row) {
    for (std::int64_t k = 0; k < job.k; ++k) {
      if (k % arch.window == 0) counts.push_back(0);
      if (a.q[row * job.k + k] != 0) ++counts.back();
    }
  }
  run.cycles = gemm_cycles(arch, shape_of(job, formats), job.skip, counts);
  return run;
}

}  // namespace

std::vector<std::uint8_t> random_codes(std::mt19937_64& engine, const Format& format, std::int64_t count,
                                       double nonzero_share, bool specials) {
  std::bernoulli_distribution nonzero(nonzero_share);
  std::vector<std::uint8_t> codes(count);
  for (std::uint8_t& code : codes) {
    std::uint32_t drawn = static_cast<std::uint32_t>(engine()) & format.code_mask();
    while (!specials && (format.is_nan(drawn) || format.is_inf(drawn)))
      drawn = static_cast<std::uint32_t>(engine()) & format.code_mask();
    if (!nonzero(engine)) drawn = format.has_negative_zero() && engine() % 2 == 0 ? format.sign_bit() : 0;
    code = static_cast<std::uint8_t>(drawn);
  }
  return codes;
}

ArrayJob OwnedJob::job(const Architecture& arch, const ArrayFormats& formats) const {
  const bool integers = formats.integers();
  return {.m = m,
          .n = n,
          .k = k,
          .a = integers ? EncodedTensor::integers(a_integers, a_range)
                        : EncodedTensor::codes(a, formats.a.format(), 0),
          .b = integers ? EncodedTensor::integers(b_integers, b_range)
                        : EncodedTensor::codes(b, formats.b.format(), 0),
          .bias = bias,
          .c_scale = c_scale,
          .skip = skip,
          .draws = {.run_seed = run_seed, .stream = 0x700020100, .lanes = arch.cols, .leap = formats.leap},
          .first_tile = first_tile,
          .a_bits = a_bits,
          .b_bits = b_bits,
          .c_bits = c_bits};
}

std::string OwnedJob::text() const {
  std::ostringstream out;
  out << "M " << m << " N " << n << " K " << k << (skip ? " skip" : " dense") << " seed " << run_seed
      << " first tile " << first_tile << " bits " << a_bits << "," << b_bits << "," << c_bits;
  return out.str();
}

OwnedJob random_job(std::mt19937_64& engine, const ArrayFormats& formats, int largest) {
  const auto size = [&] { return 1 + static_cast<std::int64_t>(engine() % largest); };
  OwnedJob job{.m = size(), .n = size(), .k = size()};
  if (formats.integers()) {
    fill_integers(engine, formats, job);
  } else {
    const bool specials = engine() % 4 == 0;
    const double share = static_cast<double>(engine() % 11) / 10;
    job.a = random_codes(engine, formats.a.format(), job.m * job.k, share, specials);
    job.b = random_codes(engine, formats.b.format(), job.k * job.n, 0.9, specials);
  }
  if (engine() % 2 == 0) {
    std::normal_distribution<float> normal(0, 4);
    for (std::int64_t col = 0; col < job.n; ++col) job.bias.push_back(normal(engine));
  }
  job.c_scale = static_cast<int>(engine() % 13) - 6;
  job.skip = engine() % 4 != 0;
  job.run_seed = engine();
  job.first_tile = engine() % 3 == 0 ? static_cast<std::int64_t>(engine() % 1000) : 0;
  if (engine() % 4 == 0) {
    job.a_bits = std::max(formats.a.bits(), one_of(engine, {8, 11, 16, 32}));
    job.b_bits = std::max(formats.b.bits(), one_of(engine, {8, 13, 16, 32}));
    job.c_bits = 32;
  }
  return job;
}

Architecture random_machine(std::mt19937_64& engine, int rows, int cols) {
  Architecture arch;
  arch.rows = rows;
  arch.cols = cols;
  arch.window = one_of(engine, {1, 2, 3, 4, 8, 16, 16, 16, 67});
  arch.depth = one_of(engine, {1, 2, 2, 3, 4});
  arch.port = one_of(engine, {1, 2, 3, 4, 4, 8, 16});
  arch.pipe_latency = one_of(engine, {0, 1, 2, 2, 3, 6});
  arch.acc_double_buffer = engine() % 3 == 0;
  // From one window at 32 bits per element upwards.
  const auto buffer = [&](std::int64_t side) {
    const std::int64_t least = 8 * side * arch.window;
    return least + static_cast<std::int64_t>(engine() % 3 == 0 ? engine() % (least + 1) : engine() % 20000);
  };
  arch.a_buffer_bytes = buffer(rows);
  arch.b_buffer_bytes = buffer(cols);
  arch.dram_latency_cycles = one_of<std::int64_t>(engine, {0, 1, 7, 40});
  arch.dram_burst_bytes = one_of<std::int64_t>(engine, {1, 4, 64});
  arch.dram_burst_cycles = one_of<std::int64_t>(engine, {1, 3, 8});
  return arch;
}

ArrayFormats random_formats(std::mt19937_64& engine) {
  ArrayFormats formats;
  formats.a = one_of(engine, {formats::e5m2, formats::e5m2, formats::e4m3, Format::parse("e4m3:fnuz")});
  formats.b = one_of(engine, {formats::e5m2, formats::e4m3, formats::e4m3, formats::e2m1});
  formats.accumulator = one_of(engine, {formats::fp32, formats::fp32, formats::fp32, formats::fp16});
  formats.c = one_of(engine, {formats::e5m2, formats::e4m3, formats::fp16, formats::fp32});
  formats.c_rounding = one_of(engine, {Rounding::rne(), Rounding::sr(8), Rounding::sr(16), Rounding::rtz()});
  formats.c_overflow = one_of(engine, {Overflow::ieee, Overflow::saturate});
  return formats;
}

ArrayFormats random_integers(std::mt19937_64& engine) {
  const auto [a, b] = one_of(engine, {std::pair(8, 8), std::pair(16, 8), std::pair(8, 16)});
  return {.a = ElementType::integer(a), .b = ElementType::integer(b)};
}

ArrayRun golden_run(const Architecture& arch, const ArrayFormats& formats, const ArrayJob& job) {
  if (formats.integers()) return golden_integers(arch, formats, job);
  MacArray array{.skip_window = arch.skip_window(job.skip),
                 .cols = arch.cols,
                 .a = formats.a.format(),
                 .b = formats.b.format(),
                 .accumulator = formats.accumulator,
                 .drain = {.to = formats.c, .rounding = formats.c_rounding, .overflow = formats.c_overflow},
                 .pipe_latency = arch.pipe_latency};
  array.drain.scale = job.c_scale;
  const std::span<const std::uint8_t> a_codes = job.a.as<EncodedTensor::Codes>().codes.get();
  const std::span<const std::uint8_t> b_codes = job.b.as<EncodedTensor::Codes>().codes.get();
  std::vector<Lfsr> lanes;
  if (formats.c_rounding.stochastic()) lanes = drain_lanes(array, job.draws, job.first_tile);
  ArrayRun run;
  run.codes.resize(job.m * job.n);
  run.flags.resize(job.m * job.n);
  for (std::int64_t row0 = 0; row0 < job.m; row0 += arch.rows) {
    const std::int64_t rows = std::min<std::int64_t>(arch.rows, job.m - row0);
    for (std::int64_t col0 = 0; col0 < job.n; col0 += arch.cols) {
      const std::int64_t cols = std::min<std::int64_t>(arch.cols, job.n - col0);
      std::vector<std::uint8_t> b;
      for (std::int64_t k = 0; k < job.k; ++k) {
        const auto row = b_codes.subspan(k * job.n + col0, cols);
        b.insert(b.end(), row.begin(), row.end());
      }
      const TileResult tile = mac_array(array,
                                        {.m = rows,
                                         .n = cols,
                                         .k = job.k,
                                         .a = a_codes.subspan(row0 * job.k, rows * job.k),
                                         .b = b,
                                         .bias = job.bias.empty() ? job.bias : job.bias.subspan(col0, cols)},
                                        lanes);
      if (tile.suppressed != 0) ++run.suppressed_tiles;
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t col = 0; col < cols; ++col) {
          const Rounded& output = tile.outputs[row * arch.cols + col];
          const std::int64_t i = (row0 + row) * job.n + col0 + col;
          run.codes[i] = output.code;
          run.flags[i] = static_cast<std::uint8_t>(output.flags.bits());
        }
      }
    }
  }
  const std::vector<std::uint32_t> counts =
      nonzero_counts(a_codes, formats.a.format(), job.m, job.k, arch.window);
  const std::vector<std::uint16_t> narrow(counts.begin(), counts.end());
  run.cycles = gemm_cycles(arch, shape_of(job, formats), job.skip, narrow);
  return run;
}

std::string difference(const ArrayRun& expected, const ArrayRun& actual) {
  std::ostringstream out;
  if (expected.codes.size() != actual.codes.size()) return "sizes";
  for (std::size_t i = 0; i < expected.codes.size(); ++i) {
    if (expected.codes[i] == actual.codes[i] && expected.flags[i] == actual.flags[i]) continue;
    out << "output " << i << ": code " << std::hex << actual.codes[i] << ", not " << expected.codes[i]
        << "; flags " << int{actual.flags[i]} << ", not " << int{expected.flags[i]};
    return out.str();
  }
  const auto compare = [&out](const char* name, std::uint64_t right, std::uint64_t wrong) {
    if (right != wrong) out << name << " " << wrong << ", not " << right << "; ";
  };
  const GemmCycles& right = expected.cycles;
  const GemmCycles& got = actual.cycles;
  compare("suppressed tiles", expected.suppressed_tiles, actual.suppressed_tiles);
  compare("compute", right.compute, got.compute);
  compare("load", right.stall_load, got.stall_load);
  compare("write-back", right.stall_write_back, got.stall_write_back);
  compare("drain", right.stall_drain, got.stall_drain);
  compare("DRAM bytes", right.dram_bytes, got.dram_bytes);
  compare("unique bytes", right.dram_bytes_unique, got.dram_bytes_unique);
  compare("tensor bytes", right.tensor_bytes, got.tensor_bytes);
  compare("SRAM bytes", right.sram_bytes, got.sram_bytes);
  compare("A taken", right.a_taken, got.a_taken);
  compare("B staged", right.b_staged, got.b_staged);
  compare("drained", right.drained, got.drained);
  compare("sums stored", right.sums_stored, got.sums_stored);
  compare("sums loaded", right.sums_loaded, got.sums_loaded);
  compare("macs", right.macs, got.macs);
  compare("skipped", right.skipped, got.skipped);
  compare("tiles", right.tiles, got.tiles);
  compare("steps", right.steps, got.steps);
  return out.str();
}

}  // namespace mantissa::test
