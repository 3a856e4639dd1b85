// What a pass on the second machine should give. Nothing here knows of lines, steps or buffers.
#include <algorithm>

#include "models/kernels/drain.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/pass_phases.hpp"
#include "models/tensor/lowered.hpp"
#include "models/tensor/products.hpp"
#include "testbench/machine/block_cases.hpp"

namespace mantissa::test {
namespace {

// The lowered matrices of one group.
struct Matrices {
  EncodedTensor a;
  EncodedTensor b;
};

Matrices matrices_of(const BlockArrayJob& job, std::int64_t group) {
  const auto [m, n, k] = sides_of(job.shape, job.pass);
  return {lowered(job.first, GemmSide::a, job.shape, job.pass, group, {0, m, 0, k}, 1),
          lowered(job.second, GemmSide::b, job.shape, job.pass, group, {0, k, 0, n}, 1)};
}

// Rows and k of a phase, as the whole pass numbers them.
struct PhaseIndices {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> k;
  std::int64_t k_per_unit = 0;
};

std::vector<PhaseIndices> phases(const ConvShape& g, Pass pass) {
  const PassSides sides = sides_of(g, pass);
  std::vector<PhaseIndices> all;
  const bool strided = pass == Pass::input_gradient;
  const std::int64_t down = strided ? g.stride[0] : 1;
  const std::int64_t across = strided ? g.stride[1] : 1;
  for (std::int64_t i = 0; i < down; ++i) {
    for (std::int64_t j = 0; j < across; ++j) {
      PhaseIndices phase;
      for (std::int64_t m = 0; m < sides.m; ++m) {
        if (!strided || (m / g.in[1] % g.in[0] % down == i && m % g.in[1] % across == j))
          phase.rows.push_back(m);
      }
      for (std::int64_t k = 0; k < sides.k; ++k) {
        const std::int64_t kr = k / g.kernel[1] % g.kernel[0];
        const std::int64_t kc = k % g.kernel[1];
        if (!strided || ((i + g.padding[0] - kr * g.dilation[0]) % down == 0 &&
                         (j + g.padding[1] - kc * g.dilation[1]) % across == 0))
          phase.k.push_back(k);
      }
      const std::int64_t units = pass == Pass::forward          ? g.in_group()
                                 : pass == Pass::input_gradient ? g.out_group()
                                                                : g.batch * g.out[0];
      phase.k_per_unit = static_cast<std::int64_t>(phase.k.size()) / units;
      all.push_back(std::move(phase));
    }
  }
  return all;
}

bool is_zero(const EncodedTensor& tensor, std::int64_t i) {
  const std::uint32_t element = tensor.element(i);
  return tensor.type().is_integer() ? element == 0 : tensor.type().format().is_zero(element);
}

// The sums of a group, [m, n]. Holes of a strided gradient are zeros of the lowered A; where these are not
// left out and meet Inf or NaN, which the machine never lets them, the phases are multiplied one by one. Of
// integers they are in the sums.
std::vector<float> sums_of(const BlockArrayJob& job, const Matrices& matrices, const GemmOptions& options) {
  const PassSides sides = sides_of(job.shape, job.pass);
  std::vector<float> sums(sides.m * sides.n);
  if (job.skip || job.pass != Pass::input_gradient || job.first.type().is_integer()) {
    gemm(sides, matrices.a, matrices.b, options, sums);
    return sums;
  }
  for (const PhaseIndices& phase : phases(job.shape, job.pass)) {
    std::vector<std::uint8_t> a;
    std::vector<std::uint8_t> b;
    for (const std::int64_t m : phase.rows) {
      for (const std::int64_t k : phase.k)
        a.push_back(static_cast<std::uint8_t>(matrices.a.element(m * sides.k + k)));
    }
    for (const std::int64_t k : phase.k) {
      for (std::int64_t n = 0; n < sides.n; ++n)
        b.push_back(static_cast<std::uint8_t>(matrices.b.element(k * sides.n + n)));
    }
    const PassSides part{std::ssize(phase.rows), sides.n, std::ssize(phase.k)};
    if (part.m == 0 || part.k == 0) continue;
    std::vector<float> product(part.m * part.n);
    gemm(part, EncodedTensor::codes(a, job.first.type().format(), 0),
         EncodedTensor::codes(b, job.second.type().format(), 0), options, product);
    for (std::int64_t row = 0; row < part.m; ++row)
      std::copy_n(product.begin() + row * part.n, part.n, sums.begin() + phase.rows[row] * part.n);
  }
  return sums;
}

float widened(float sum, const BlockArrayJob& job, std::int64_t column) {
  return job.bias.empty() ? sum : f32::add(sum, job.bias[column]);
}

// Tiles of steps in which a zero of A that is left out would have met Inf or NaN in B.
class Suppressed {
 public:
  Suppressed(const Architecture& arch, const ArrayFormats& formats, const BlockArrayJob& job)
      : arch_(arch), formats_(formats), job_(job), sides_(sides_of(job.shape, job.pass)) {
    for (std::int64_t group = 0; group < job.shape.groups; ++group)
      groups_.push_back(matrices_of(job, group));
  }

  std::uint64_t tiles() const {
    if (!job_.skip || formats_.integers()) return 0;
    const Rectangle& out = job_.outputs;
    std::uint64_t tiles = 0;
    for (std::int64_t row = out.row0; row < out.row1; row += job_.mapping.m_block) {
      for (std::int64_t col = out.col0; col < out.col1; col += job_.mapping.n_block) {
        tiles += block({row, std::min(row + job_.mapping.m_block, out.row1), col,
                        std::min(col + job_.mapping.n_block, out.col1)});
      }
    }
    return tiles;
  }

 private:
  std::uint64_t block(const Rectangle& part) const {
    struct Tile {
      std::vector<std::int64_t> rows;
      Rectangle columns;
      const PhaseIndices* phase;
    };
    const std::vector<PhaseIndices> all = phases(job_.shape, job_.pass);
    std::vector<Tile> tiles;
    std::int64_t segments = 1;
    for (const PhaseIndices& phase : all) {
      if (phase.k.empty()) continue;
      const std::int64_t step = job_.mapping.k_block * phase.k_per_unit;
      segments = (static_cast<std::int64_t>(phase.k.size()) + step - 1) / step;
      std::vector<std::int64_t> rows;
      for (const std::int64_t m : phase.rows) {
        if (m >= part.row0 && m < part.row1) rows.push_back(m);
      }
      for (std::size_t first = 0; first < rows.size(); first += arch_.rows) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = std::min<std::size_t>(arch_.rows, rows.size() - first);
        for (std::int64_t col = part.col0; col < part.col1; col += arch_.cols) {
          tiles.push_back({{begin, begin + static_cast<std::ptrdiff_t>(count)},
                           {0, 0, col, std::min(col + arch_.cols, part.col1)},
                           &phase});
        }
      }
    }
    std::uint64_t count = 0;
    for (const Tile& tile : tiles) {
      bool any = false;
      for (std::int64_t segment = 0; segment < segments; ++segment) {
        const bool here = happens(tile.rows, tile.columns, *tile.phase, segment);
        any = any || here;
        if (here && tiles.size() > 1) ++count;
      }
      // The sums of a tile that is alone stay from segment to segment, and so does its bit.
      if (any && tiles.size() == 1) ++count;
    }
    return count;
  }

  bool happens(const std::vector<std::int64_t>& rows, const Rectangle& columns, const PhaseIndices& phase,
               std::int64_t segment) const {
    const std::int64_t step = job_.mapping.k_block * phase.k_per_unit;
    const std::int64_t end = std::min<std::int64_t>((segment + 1) * step, std::ssize(phase.k));
    for (std::int64_t col = columns.col0; col < columns.col1; ++col) {
      const Matrices& of_group = groups_[col / sides_.n];
      for (std::int64_t i = segment * step; i < end; ++i) {
        const std::int64_t k = phase.k[i];
        const std::uint32_t b = of_group.b.element(k * sides_.n + col % sides_.n);
        if (!formats_.b.format().is_inf(b) && !formats_.b.format().is_nan(b)) continue;
        for (const std::int64_t m : rows) {
          if (formats_.a.format().is_zero(of_group.a.element(m * sides_.k + k))) return true;
        }
      }
    }
    return false;
  }

  const Architecture& arch_;
  const ArrayFormats& formats_;
  const BlockArrayJob& job_;
  PassSides sides_;
  std::vector<Matrices> groups_;
};

}  // namespace

BlockCounts nonzero_counts(const Architecture& arch, const BlockArrayJob& job) {
  const std::vector<PhaseIndices> all = phases(job.shape, job.pass);
  BlockCounts counts;
  for (const PhaseIndices& phase : all) {
    for (std::int64_t group = 0; group < job.shape.groups; ++group) {
      const Matrices matrices = matrices_of(job, group);
      const std::int64_t pitch = sides_of(job.shape, job.pass).k;
      std::vector<std::uint16_t>& of_phase = counts.emplace_back();
      for (const std::int64_t m : phase.rows) {
        for (std::size_t i = 0; i < phase.k.size(); ++i) {
          if (i % static_cast<std::size_t>(arch.window) == 0) of_phase.push_back(0);
          if (!is_zero(matrices.a, m * pitch + phase.k[i])) ++of_phase.back();
        }
      }
    }
  }
  return counts;
}

// By (image * channels + channel) * OH + row; of a job that is not packed nobody wants to know.
std::vector<std::uint32_t> row_nonzero_counts(const BlockArrayJob& job) {
  if (!job.packed) return {};
  const ConvShape& g = job.shape;
  std::vector<std::uint32_t> counts(g.batch * g.out_channels * g.out[0]);
  for (std::int64_t i = 0; i < std::ssize(counts) * g.out[1]; ++i) {
    if (!is_zero(job.first, i)) ++counts[i / g.out[1]];
  }
  return counts;
}

BlockGolden golden_run(const Architecture& arch, const ArrayFormats& formats, const BlockArrayJob& job) {
  const PassSides sides = sides_of(job.shape, job.pass);
  const auto [m, n, k] = sides;
  const Rectangle& out = job.outputs;
  const Conversion how{
      .to = formats.c, .rounding = formats.c_rounding, .overflow = formats.c_overflow, .scale = job.c_scale};
  BlockGolden golden;
  golden.run.codes.resize(out.elements());
  golden.run.flags.resize(out.elements());
  for (std::int64_t group = 0; group < job.shape.groups; ++group) {
    const Matrices matrices = matrices_of(job, group);
    const GemmOptions options{.accumulator = {.format = formats.accumulator},
                              .skip_zero_a = job.skip,
                              .rows = arch.rows,
                              .draws = job.draws};
    std::vector<float> sums = sums_of(job, matrices, options);
    for (std::int64_t i = 0; i < m * n; ++i) sums[i] = widened(sums[i], job, group * n + i % n);
    const std::int64_t first_tile = group * tiles_of(sides, arch.rows, arch.cols);
    if (formats.integers()) {
      const std::int64_t first = std::max(out.col0, group * n);
      const std::int64_t end = std::min(out.col1, (group + 1) * n);
      for (std::int64_t row = out.row0; row < out.row1; ++row) {
        for (std::int64_t col = first; col < end; ++col) {
          golden.run.codes[(row - out.row0) * out.cols() + col - out.col0] =
              fp32_bits(sums[row * n + col - group * n]);
        }
      }
      continue;
    }
    std::vector<std::uint32_t> codes(m * n);
    kernels::drain<std::uint32_t>(sums, {m, n, 1}, how, job.draws,
                                  {.rows = arch.rows, .first_tile = first_tile}, codes);
    for (std::int64_t row = out.row0; row < out.row1; ++row) {
      for (std::int64_t col = std::max(out.col0, group * n); col < std::min(out.col1, (group + 1) * n);
           ++col) {
        const std::int64_t at = (row - out.row0) * out.cols() + col - out.col0;
        const std::int64_t column = col - group * n;
        golden.run.codes[at] = codes[row * n + column];
        const std::int64_t tile =
            first_tile + row / arch.rows * ((n + arch.cols - 1) / arch.cols) + column / arch.cols;
        std::uint32_t draw = 0;
        if (formats.stochastic()) {
          Lfsr lane = job.draws.lane(static_cast<std::uint64_t>(column % arch.cols),
                                     static_cast<std::uint64_t>(tile * arch.rows + row % arch.rows));
          draw = lane.draw();
        }
        golden.run.flags[at] =
            static_cast<std::uint8_t>(convert(fp32_bits(sums[row * n + column]), how, draw).flags.bits());
      }
    }
  }
  golden.run.suppressed_tiles = Suppressed(arch, formats, job).tiles();
  golden.cost = block_cycles(arch, shape_of(job, formats), job.mapping, nonzero_counts(arch, job),
                             row_nonzero_counts(job));
  golden.run.cycles = golden.cost.cycles;
  return golden;
}

}  // namespace mantissa::test
