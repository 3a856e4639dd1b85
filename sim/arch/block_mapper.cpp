#include "sim/arch/block_mapper.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "models/mac/pass_phases.hpp"
#include "sim/arch/sizes.hpp"
#include "sim/arch/skip_share.hpp"

namespace mantissa {
namespace {

constexpr std::size_t judged = 20;  // mappings that the closed form judges
constexpr std::size_t exact = 2;    // and those that are run with the real zeros
// Bytes are most of the energy, and a few cycles are no more than the noise of a search.
constexpr std::uint64_t near_percent = 4;
constexpr double byte_weight = 0.4;  // in a rough merit, cycles for each cycle of DRAM

// All, and a half, a third, ... of it, rounded up to multiples.
std::vector<std::int64_t> parts_of(std::int64_t all, std::int64_t multiple) {
  std::vector<std::int64_t> sizes = {all};
  for (std::int64_t parts = 2; sizes.back() > multiple; parts += std::max<std::int64_t>(1, parts / 3)) {
    const std::int64_t size = ceil_div(ceil_div(all, parts), multiple) * multiple;
    if (size < sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

// A pass in round numbers.
struct Rough {
  Rough(const Architecture& machine, const BlockJob& pass) : arch(machine), job(pass) {
    const ConvShape& g = job.shape;
    weight_gradient = job.pass == Pass::weight_gradient;
    const bool forward = job.pass == Pass::forward;
    units = forward ? g.in_group() : weight_gradient ? g.batch * g.out[0] : g.out_group();
    for (const PassPhase& phase : phases_of(g, job.pass)) {
      const std::int64_t k = weight_gradient ? g.out[1] : phase.taps_in_all();
      if (k == 0) continue;
      phase_shares.push_back(static_cast<double>(phase.rows_per_image()) /
                             static_cast<double>(phase.image[0] * phase.image[1]));
      unit_multiple = std::lcm(unit_multiple, arch.window / std::gcd<std::int64_t>(arch.window, k));
      const double phase_rows = weight_gradient ? static_cast<double>(job.outputs.rows())
                                                : static_cast<double>(g.batch * phase.rows_per_image());
      macs += phase_rows * static_cast<double>(job.outputs.cols() * units * k);
    }
    // Of a part of the rows, their share of every phase.
    if (!weight_gradient)
      macs *= static_cast<double>(job.outputs.rows()) / static_cast<double>(sides_of(g, job.pass).m);
    taps = g.kernel[0] * g.kernel[1];
    rows = job.outputs.rows();
    cols = job.outputs.cols();
    const std::int64_t columns = sides_of(g, job.pass).n;
    groups = (job.outputs.col1 - 1) / columns - job.outputs.col0 / columns + 1;
    a_width = forward ? g.in[1] : g.out[1];
    row_width = forward ? g.out[1] : g.in[1];
    const auto stride = static_cast<double>(g.stride[0]);
    lines_per_line = forward || weight_gradient ? stride : 1 / stride;
    halo = static_cast<double>((g.kernel[0] - 1) * g.dilation[0]) / (forward || weight_gradient ? 1 : stride);
    all_lines = static_cast<double>(g.batch * (forward ? g.in[0] : g.out[0]));
    all_input_lines = static_cast<double>(g.batch * g.in[0]);
    b_channels = static_cast<double>(cols) / static_cast<double>(taps);
  }

  // Of the weight gradient: both images.
  bool all_fits() const {
    const auto a = static_cast<double>(groups * rows * units * a_width);
    const double b = std::ceil(b_channels) * all_input_lines * static_cast<double>(job.shape.in[1]);
    return bytes(a, job.a_bits) <= static_cast<double>(arch.a_buffer_bytes) &&
           bytes(b, job.b_bits) <= static_cast<double>(arch.b_buffer_bytes);
  }
  static double bytes(double elements, int bits) { return elements * bits / 8; }
  // Lines of the image operand that so many consecutive lines of outputs need.
  double lines(double output_lines, double all) const {
    return std::min(all, output_lines * lines_per_line + halo);
  }

  const Architecture& arch;
  const BlockJob& job;
  bool weight_gradient = false;
  std::int64_t units = 1, unit_multiple = 1, taps = 1, rows = 1, cols = 1, groups = 1;
  std::int64_t a_width = 1, row_width = 1;
  std::vector<double> phase_shares;  // of the rows, phases with taps
  double lines_per_line = 1, halo = 0, all_lines = 1, all_input_lines = 1, b_channels = 1, macs = 0;
};

// A mapping in numbers of blocks and sizes.
struct Cut {
  double rows = 1, cols = 1;  // blocks
  double segments = 1, k_block = 1, units = 1, groups = 1;
};

// What an operand takes of its buffer, and moves.
struct Traffic {
  double all = 0;    // all of it
  double row = 0;    // lines of a row of the outer loop; 0: it is not of the outer loop
  double step = 0;   // lines of a step
  double fresh = 1;  // share of a step's lines that the step before has not
  double again = 1;  // how often all is loaded if only a step's lines stay

  bool stays(double buffer) const { return all <= buffer || (row > 0 && row <= buffer); }
  double moved(double buffer) const { return stays(buffer) ? all : all * again; }
  // What is loaded while nothing computes, for want of room beside the step before.
  double late(double buffer) const {
    return stays(buffer) || step * (1 + fresh) <= buffer ? std::min(step, all) : moved(buffer);
  }
};

// Image lines and weights.
void rough_product(const Rough& r, const BlockMapping& mapping, const Cut& cut, Traffic& a, Traffic& b) {
  const bool m_outside = mapping.order == BlockOrder::m_outside;
  const double lines =
      r.lines(static_cast<double>(mapping.m_block) / static_cast<double>(r.row_width) + 1, r.all_lines);
  const double in_block = std::min(cut.groups, cut.groups / cut.cols + 1);
  const double line = Rough::bytes(static_cast<double>(r.a_width), r.job.a_bits);
  const double halo = std::max(1.0, cut.rows * lines / r.all_lines);
  const bool whole = cut.segments == 1;
  a.all = cut.groups * cut.units * r.all_lines * line;
  a.step = in_block * cut.k_block * lines * line;
  if (m_outside) a.row = cut.groups * cut.units * lines * line;
  a.fresh = whole ? 1 / halo : 1;
  a.again = whole ? (m_outside || cut.groups > 1 ? 1 : cut.cols) : halo * (cut.groups > 1 ? 1 : cut.cols);
  const double column = Rough::bytes(static_cast<double>(r.taps), r.job.b_bits);
  b.all = cut.units * column * static_cast<double>(r.cols);
  b.step = cut.k_block * column * static_cast<double>(mapping.n_block);
  if (!m_outside) b.row = cut.units * column * static_cast<double>(mapping.n_block);
  b.fresh = whole && !m_outside ? 1 / cut.rows : 1;
  b.again = whole && !m_outside ? 1 : cut.rows;
}

// Gradients and inputs, both images.
void rough_weight_gradient(const Rough& r, const BlockMapping& mapping, const Cut& cut, Traffic& a,
                           Traffic& b) {
  const bool m_outside = mapping.order == BlockOrder::m_outside;
  const bool whole = cut.segments == 1;
  const double line = Rough::bytes(static_cast<double>(r.a_width), r.job.a_bits);
  const auto rows = static_cast<double>(mapping.m_block);
  a.all = cut.groups * static_cast<double>(r.rows) * cut.units * line;
  a.step = rows * cut.k_block * line;
  if (m_outside) a.row = rows * cut.units * line;
  a.fresh = whole && m_outside ? 1 / cut.cols : 1;
  a.again = whole && m_outside ? 1 : cut.cols;
  const double channels = std::min(
      r.b_channels, std::ceil(static_cast<double>(mapping.n_block - 1) / static_cast<double>(r.taps)) + 1);
  const double input = Rough::bytes(static_cast<double>(r.job.shape.in[1]), r.job.b_bits);
  const double lines = r.lines(cut.k_block, r.all_input_lines);
  const double halo = std::max(1.0, cut.segments * lines / r.all_input_lines);
  b.all = r.b_channels * r.all_input_lines * input;
  b.step = channels * lines * input;
  if (!m_outside) b.row = channels * r.all_input_lines * input;
  b.fresh = whole && !m_outside ? 1 / cut.rows : 1 / halo;
  b.again = (whole && !m_outside ? 1 : cut.rows) * std::max(1.0, cut.cols * channels / r.b_channels);
}

struct Candidate {
  BlockMapping mapping;
  double merit = 0;  // cycles, and a few for bytes
  double bytes = 0;
};

// Rough cycles and bytes of a mapping; nothing where it does not fit.
std::optional<Candidate> judge(const Rough& r, const BlockMapping& mapping, double share) {
  const Architecture& arch = r.arch;
  const BlockJob& job = r.job;
  const auto block = static_cast<double>(mapping.m_block * mapping.n_block);
  const bool x = job.statistics == DrainStatistics::backward;
  const double sums = Rough::bytes(block, job.sum_bits + (x ? job.x_bits : 0));
  const auto c_buffer = static_cast<double>(arch.c_buffer_bytes);
  if (sums > c_buffer) return std::nullopt;
  const Cut cut{.rows = static_cast<double>(ceil_div(r.rows, mapping.m_block)),
                .cols = static_cast<double>(ceil_div(r.cols, mapping.n_block)),
                .segments = static_cast<double>(ceil_div(r.units, mapping.k_block)),
                .k_block = static_cast<double>(mapping.k_block),
                .units = static_cast<double>(r.units),
                .groups = static_cast<double>(r.groups)};
  Traffic a;
  Traffic b;
  if (r.weight_gradient) {
    rough_weight_gradient(r, mapping, cut, a, b);
  } else {
    rough_product(r, mapping, cut, a, b);
  }
  const auto a_buffer = static_cast<double>(arch.a_buffer_bytes);
  const auto b_buffer = static_cast<double>(arch.b_buffer_bytes);
  if (a.step > 1.2 * a_buffer || b.step > 1.2 * b_buffer) return std::nullopt;
  Candidate candidate{mapping};
  const double outputs = Rough::bytes(static_cast<double>(r.rows * r.cols), job.c_bits);
  candidate.bytes = a.moved(a_buffer) + b.moved(b_buffer) + outputs;
  const double rate = static_cast<double>(arch.dram_burst_bytes) / arch.dram_burst_cycles.value();
  const double peak = job.fp32 ? arch.fp32_macs_per_cycle : static_cast<double>(arch.rows) * arch.cols;
  const auto fill = static_cast<double>(ceil_div(arch.window, arch.port));
  double tile_rows = 0;  // of a block, phase by phase
  for (const double share_of_rows : r.phase_shares)
    tile_rows += std::ceil(share_of_rows * static_cast<double>(mapping.m_block) / arch.rows);
  const double tile_cols = std::ceil(static_cast<double>(mapping.n_block) / arch.cols);
  const double tiles = tile_rows * tile_cols * cut.rows * cut.cols;
  const double used = tiles * arch.rows * arch.cols / static_cast<double>(r.rows * r.cols);
  const double compute = std::max(share * r.macs * used / peak + tiles * cut.segments * fill,
                                  tiles * cut.segments * static_cast<double>(arch.sum_cycles() + 1));
  const int drained = job.statistics == DrainStatistics::none ? arch.sum_rows : 1;  // rows in a cycle
  const double drain = block / (arch.cols * drained) + Rough::bytes(block, job.c_bits) / rate;
  const double waits = (2 * sums > c_buffer ? cut.rows * cut.cols : 1) * drain;
  const double late = (a.late(a_buffer) + b.late(b_buffer)) / rate;
  candidate.merit =
      std::max(compute + late + waits, candidate.bytes / rate) + byte_weight * candidate.bytes / rate;
  return candidate;
}

// The fewest cycles; of those near that, the fewest bytes.
void sort_by_merit(std::vector<MappedCost>& mapped) {
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const MappedCost& each : mapped) fewest = std::min(fewest, each.cost.cycles.cycles());
  const auto rank = [fewest](const MappedCost& each) {
    const std::uint64_t cycles = each.cost.cycles.cycles();
    const bool near = cycles <= fewest + fewest * near_percent / 100;
    return std::tuple(near ? 0 : cycles, each.cost.cycles.dram_bytes, cycles);
  };
  std::stable_sort(mapped.begin(), mapped.end(),
                   [&](const MappedCost& a, const MappedCost& b) { return rank(a) < rank(b); });
}

// All mappings that may fit, block columns being multiples of `columns`.
std::vector<Candidate> candidates(const Rough& rough, double share, std::int64_t columns) {
  std::vector<Candidate> found;
  const std::vector<std::int64_t> rows = parts_of(rough.rows, rough.arch.rows);
  const std::vector<std::int64_t> cols = parts_of(rough.cols, columns);
  const std::vector<std::int64_t> units = parts_of(rough.units, rough.unit_multiple);
  for (const BlockOrder order : {BlockOrder::m_outside, BlockOrder::n_outside}) {
    for (const std::int64_t m : rows) {
      for (const std::int64_t n : cols) {
        for (const std::int64_t k : units) {
          if (const auto one = judge(rough, {order, m, n, k}, share)) found.push_back(*one);
        }
      }
    }
  }
  return found;
}

std::vector<Candidate> candidates(const Rough& rough, double share) {
  std::vector<Candidate> found;
  // A channel that two block columns share would be loaded for each, where it could be loaded once.
  if (rough.weight_gradient && rough.all_fits())
    found = candidates(rough, share, std::lcm<std::int64_t>(rough.arch.cols, rough.taps));
  if (found.empty()) found = candidates(rough, share, rough.arch.cols);
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.merit, a.bytes, a.mapping.m_block, a.mapping.n_block, a.mapping.k_block) <
           std::tuple(b.merit, b.bytes, b.mapping.m_block, b.mapping.n_block, b.mapping.k_block);
  });
  return found;
}

// Whether all steps fit, wherever their blocks lie, as far as sizes alone can say.
bool surely_fits(const Rough& r, const BlockMapping& mapping) {
  const Architecture& arch = r.arch;
  const ConvShape& g = r.job.shape;
  // In how many pieces of a size so many consecutive elements may lie.
  const auto met = [](std::int64_t elements, std::int64_t size) { return (elements + 2 * size - 2) / size; };
  const std::int64_t groups = std::min(r.groups, met(mapping.n_block, sides_of(g, r.job.pass).n));
  std::int64_t a = groups * mapping.k_block * r.a_width;
  std::int64_t b = mapping.k_block;
  if (r.weight_gradient) {
    a *= mapping.m_block;
    b *= met(mapping.n_block, r.taps) * g.kernel[0] * g.in[1];
  } else {
    a *= met(mapping.m_block, r.row_width) * g.kernel[0];
    b *= mapping.n_block * r.taps;
  }
  const bool x = r.job.statistics == DrainStatistics::backward;
  return packed_bytes(a, r.job.a_bits) <= arch.a_buffer_bytes &&
         packed_bytes(b, r.job.b_bits) <= arch.b_buffer_bytes &&
         packed_bytes(mapping.m_block * mapping.n_block, r.job.sum_bits + (x ? r.job.x_bits : 0)) <=
             arch.c_buffer_bytes;
}

BlockMapping smallest(const Rough& rough) {
  return {BlockOrder::m_outside, parts_of(rough.rows, rough.arch.rows).back(),
          parts_of(rough.cols, rough.arch.cols).back(), parts_of(rough.units, rough.unit_multiple).back()};
}

}  // namespace

BlockMapping given_mapping(const Architecture& arch, const BlockJob& job) {
  const Rough rough(arch, job);
  BlockMapping mapping = arch.blocks;
  mapping.k_block = ceil_div(mapping.k_block, rough.unit_multiple) * rough.unit_multiple;
  return mapping;
}

void check_fits(const Architecture& arch, const BlockJob& job) {
  if (arch.mapping == Mapping::given) estimated_block_cycles(arch, job, given_mapping(arch, job), 1);
  if (arch.mapping != Mapping::automatic) return;
  // Blocks of any other mapping hold whole blocks of this one.
  const Rough rough(arch, job);
  const BlockMapping least = smallest(rough);
  if (!surely_fits(rough, least)) estimated_block_cycles(arch, job, least, 1);
}

MappedCost best_mapping(const Architecture& arch, const BlockJob& job, const BlockCounts& nonzero,
                        std::span<const std::uint32_t> row_nonzero) {
  const Rough rough(arch, job);
  SkipShare share(arch, job, nonzero);
  std::vector<MappedCost> best;
  for (const Candidate& candidate : candidates(rough, share.of(rough.units))) {
    if (best.size() == judged) break;
    try {
      best.push_back(
          {candidate.mapping, estimated_block_cycles(arch, job, candidate.mapping,
                                                     share.of(candidate.mapping.k_block), row_nonzero)});
    } catch (const std::invalid_argument&) {
      continue;  // the rough count took it for smaller than it is
    }
  }
  if (best.empty()) {
    const BlockMapping least = smallest(rough);  // says what does not fit
    return {least, block_cycles(arch, job, least, nonzero, row_nonzero)};
  }
  sort_by_merit(best);
  if (!job.skip) return best.front();
  best.resize(std::min(best.size(), exact));
  for (MappedCost& each : best) each.cost = block_cycles(arch, job, each.mapping, nonzero, row_nonzero);
  sort_by_merit(best);
  return best.front();
}

MappedCost mapped_cost(const Architecture& arch, const BlockJob& job, const BlockCounts& nonzero,
                       std::span<const std::uint32_t> row_nonzero) {
  if (arch.mapping == Mapping::automatic) return best_mapping(arch, job, nonzero, row_nonzero);
  const BlockMapping mapping = given_mapping(arch, job);
  return {mapping, block_cycles(arch, job, mapping, nonzero, row_nonzero)};
}

std::string text_of(const MappedCost& mapped) {
  const BlockMapping& cut = mapped.mapping;
  return fmt::format("{} {} x {} x {}, A {}, B {}, C {}", name_of(cut.order), cut.m_block, cut.n_block,
                     cut.k_block, name_of(mapped.cost.a_scope), name_of(mapped.cost.b_scope),
                     mapped.cost.two_blocks ? "two blocks" : "one block");
}

}  // namespace mantissa
