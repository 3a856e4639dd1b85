#include "sim/arch/block_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/arch/sizes.hpp"

namespace mantissa {
namespace {

using Lines = std::vector<std::uint64_t>;

void set(Lines& lines, std::int64_t line) { lines[line / 64] |= std::uint64_t{1} << (line % 64); }

std::int64_t count(const Lines& lines) {
  std::int64_t all = 0;
  for (const std::uint64_t word : lines) all += std::popcount(word);
  return all;
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

// A size of the mapping: a multiple, or all there is.
std::int64_t block_size(const char* key, std::int64_t size, std::int64_t multiple, std::int64_t all) {
  if (size >= all) return all;
  if (size < 1 || size % multiple != 0)
    refuse(fmt::format("{} {} is neither a multiple of {} nor all {}", key, size, multiple, all));
  return size;
}

}  // namespace

BlockPlan::BlockPlan(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                     std::span<const std::uint32_t> row_nonzero)
    : job_(job), mapping_(mapping) {
  const ConvShape& shape = job.shape;
  columns_per_group_ = sides_of(shape, job.pass).n;
  for (PassPhase& phase : phases_of(shape, job.pass)) {
    const std::int64_t k = job.pass == Pass::weight_gradient ? shape.out[1] : phase.taps_in_all();
    phases_.push_back({std::move(phase), k});
  }
  k_units_ = job.pass == Pass::forward          ? shape.in_group()
             : job.pass == Pass::input_gradient ? shape.out_group()
                                                : shape.batch * shape.out[0];
  check(arch);
  mapping_.m_block = block_size("m_block", mapping.m_block, arch.rows, job.outputs.rows());
  mapping_.n_block = block_size("n_block", mapping.n_block, arch.cols, job.outputs.cols());
  mapping_.k_block = block_size("k_block", mapping.k_block, 1, k_units_);
  for (const Phase& phase : phases_) {
    if (mapping_.k_block < k_units_ && mapping_.k_block * phase.k_per_unit % arch.window != 0) {
      refuse(fmt::format("k_block {} x {} elements of k is no multiple of window {}", mapping_.k_block,
                         phase.k_per_unit, arch.window));
    }
  }
  block_rows_ = ceil_div(job.outputs.rows(), mapping_.m_block);
  block_cols_ = ceil_div(job.outputs.cols(), mapping_.n_block);
  segments_ = ceil_div(k_units_, mapping_.k_block);
  const auto steps = static_cast<unsigned __int128>(blocks()) * segments_;
  if (steps > max_block_steps) refuse("a mapping with more than 2^24 steps; take larger blocks");
  size_lines();
  lay_rows();
  lay_steps();
  if (job.packed) pack_lines(row_nonzero);
}

void BlockPlan::check(const Architecture& arch) const {
  const PassSides sides = sides_of(job_.shape, job_.pass);
  const Rectangle& out = job_.outputs;
  if (out.row0 < 0 || out.row1 > sides.m || out.rows() < 1 || out.col0 < 0 || out.cols() < 1 ||
      out.col1 > sides.n * job_.shape.groups || out.row0 % arch.rows != 0) {
    throw std::logic_error(
        "a job's outputs are a part of the pass's, from a multiple of the array's rows on");
  }
  for (const int bits : {job_.a_bits, job_.b_bits, job_.c_bits}) {
    if (bits < 1 || bits > 32) refuse(fmt::format("elements have 1..32 bits in memory, not {}", bits));
  }
  if (job_.packed && (job_.pass == Pass::forward || job_.fp32 || job_.a_bits < 2 || job_.a_bits > 8))
    throw std::logic_error("only codes of a gradient, of 2..8 bits, lie in packed lines");
  if (job_.x_bits < 1 || job_.x_bits > 32) refuse(fmt::format("x has 1..32 bits, not {}", job_.x_bits));
  if (job_.sum_bits < 1 || job_.sum_bits > 1024) throw std::logic_error("sums have 1..1024 bits");
}

std::int64_t BlockPlan::block_row_of(std::int64_t block) const {
  return mapping_.order == BlockOrder::m_outside ? block / block_cols_ : block % block_rows_;
}
std::int64_t BlockPlan::block_col_of(std::int64_t block) const {
  return mapping_.order == BlockOrder::m_outside ? block % block_cols_ : block / block_rows_;
}

Rectangle BlockPlan::outputs(std::int64_t block) const {
  const Rectangle& all = job_.outputs;
  const std::int64_t row = all.row0 + block_row_of(block) * mapping_.m_block;
  const std::int64_t col = all.col0 + block_col_of(block) * mapping_.n_block;
  return {row, std::min(row + mapping_.m_block, all.row1), col, std::min(col + mapping_.n_block, all.col1)};
}

Rectangle BlockPlan::largest_block() const { return {0, mapping_.m_block, 0, mapping_.n_block}; }

std::int64_t BlockPlan::segment_units(std::int64_t segment) const {
  return std::min(mapping_.k_block, k_units_ - segment * mapping_.k_block);
}

std::int64_t BlockPlan::channels_touched(std::int64_t group, std::int64_t col0, std::int64_t col1) const {
  const std::int64_t taps = job_.shape.kernel[0] * job_.shape.kernel[1];
  const std::int64_t begin = std::max(col0 - group * columns_per_group_, std::int64_t{0});
  const std::int64_t end = std::min(col1 - group * columns_per_group_, columns_per_group_);
  return end <= begin ? 0 : (end - 1) / taps - begin / taps + 1;
}

// ---------------------------------------------------------------------------------------------------- lines

void BlockPlan::add_lines(const Phase& phase, const Rows& part, std::vector<std::uint64_t>& lines) const {
  if (part.begin == part.end) return;
  const ConvShape& g = job_.shape;
  const PassPhase& rows = phase.geometry;
  const bool forward = job_.pass == Pass::forward;
  const std::int64_t height = forward ? g.in[0] : g.out[0];
  for (std::int64_t place = part.begin / rows.places[1]; place <= (part.end - 1) / rows.places[1]; ++place) {
    const std::int64_t image = place / rows.places[0];
    const std::int64_t at = rows.first[0] + place % rows.places[0] * rows.stride[0];
    for (const std::int64_t tap : rows.taps[0]) {
      const std::int64_t offset = tap * g.dilation[0] - g.padding[0];
      const std::int64_t meets = forward ? at * g.stride[0] + offset : at - offset;
      if (meets < 0) continue;
      const std::int64_t line = forward ? meets : meets / g.stride[0];
      if (line < height) set(lines, image * height + line);
    }
  }
}

std::vector<std::uint64_t> BlockPlan::gradient_lines(std::int64_t first, std::int64_t end) const {
  Lines lines(a_.words());
  for (std::int64_t line = first; line < end; ++line) set(lines, line);
  return lines;
}

std::vector<std::uint64_t> BlockPlan::input_lines(std::int64_t first, std::int64_t end) const {
  const ConvShape& g = job_.shape;
  Lines lines(b_.words());
  for (std::int64_t place = first; place < end; ++place) {
    for (std::int64_t tap = 0; tap < g.kernel[0]; ++tap) {
      const std::int64_t line = place % g.out[0] * g.stride[0] + tap * g.dilation[0] - g.padding[0];
      if (line >= 0 && line < g.in[0]) set(lines, place / g.out[0] * g.in[0] + line);
    }
  }
  return lines;
}

// How many lines there are of which kind, and what is in them.
void BlockPlan::size_lines() {
  const ConvShape& g = job_.shape;
  const Rectangle& out = job_.outputs;
  a_.bits = job_.a_bits;
  b_.bits = job_.b_bits;
  a_.groups = g.groups;
  a_.row_scope = mapping_.order == BlockOrder::m_outside;
  b_.row_scope = !a_.row_scope;
  if (job_.pass != Pass::weight_gradient) {
    const bool forward = job_.pass == Pass::forward;
    a_.outers = segments_;
    a_.lines = g.batch * (forward ? g.in[0] : g.out[0]);
    b_.outers = segments_ * block_cols_;
    b_.line_sets = {{1}};
    for (std::int64_t segment = 0; segment < segments_; ++segment) {
      const std::int64_t units = segment_units(segment);
      a_.line_elements.insert(a_.line_elements.end(), a_.groups, units * (forward ? g.in[1] : g.out[1]));
      for (std::int64_t col = out.col0; col < out.col1; col += mapping_.n_block) {
        const std::int64_t columns = std::min(mapping_.n_block, out.col1 - col);
        b_.line_elements.push_back(units * g.kernel[0] * g.kernel[1] * columns);
      }
    }
    return;
  }
  b_.groups = g.groups;
  a_.outers = block_rows_;
  b_.outers = block_cols_;
  a_.lines = g.batch * g.out[0];
  b_.lines = g.batch * g.in[0];
  for (std::int64_t row = out.row0; row < out.row1; row += mapping_.m_block) {
    a_.line_elements.insert(a_.line_elements.end(), a_.groups,
                            std::min(mapping_.m_block, out.row1 - row) * g.out[1]);
  }
  for (std::int64_t col = out.col0; col < out.col1; col += mapping_.n_block) {
    for (std::int64_t group = 0; group < g.groups; ++group) {
      b_.line_elements.push_back(channels_touched(group, col, std::min(col + mapping_.n_block, out.col1)) *
                                 g.in[1]);
    }
  }
  for (std::int64_t segment = 0; segment < segments_; ++segment) {
    const std::int64_t first = segment * mapping_.k_block;
    const std::int64_t end = first + segment_units(segment);
    a_.line_sets.push_back(gradient_lines(first, end));
    b_.line_sets.push_back(input_lines(first, end));
  }
}

// A line has the channels of a segment or of a block row, of one group. Every channel of a needed line is in
// one of them, so that all of them together are the tensor.
void BlockPlan::pack_lines(std::span<const std::uint32_t> row_nonzero) {
  const ConvShape& g = job_.shape;
  const std::int64_t channels = g.out_group() * g.groups;
  if (std::ssize(row_nonzero) != g.batch * channels * g.out[0]) {
    throw std::invalid_argument(
        fmt::format("a packed gradient of {} x {} x {} rows has {} counts of non-zeros", g.batch, channels,
                    g.out[0], row_nonzero.size()));
  }
  const Rectangle& out = job_.outputs;
  const bool weights = job_.pass == Pass::weight_gradient;
  Lines needed(a_.words());
  for (const Lines& lines : a_.line_sets)
    for (std::size_t i = 0; i < needed.size(); ++i) needed[i] |= lines[i];
  const std::int64_t first_group = group_of(out.col0);
  const std::int64_t last_group = group_of(out.col1 - 1);
  std::int64_t elements = 0;
  std::int64_t nonzero = 0;
  a_.line_bytes.assign(a_.outers * a_.groups * a_.lines, 0);
  for (std::int64_t outer = 0; outer < a_.outers; ++outer) {
    const std::int64_t first = weights ? out.row0 + outer * mapping_.m_block : outer * mapping_.k_block;
    for (std::int64_t group = first_group; group <= last_group; ++group) {
      const std::int64_t place = outer * a_.groups + group;
      const std::int64_t count = a_.line_elements[place] / g.out[1];
      for (std::int64_t line = 0; line < a_.lines; ++line) {
        if ((needed[line / 64] >> (line % 64) & 1) == 0) continue;
        const std::int64_t row = line % g.out[0];
        const std::int64_t channel = line / g.out[0] * channels + group * g.out_group() + first;
        std::int64_t ones = 0;
        for (std::int64_t c = channel; c < channel + count; ++c) ones += row_nonzero[c * g.out[0] + row];
        if (ones > a_.line_elements[place])
          throw std::invalid_argument("a packed gradient's row has more non-zeros than elements");
        a_.line_bytes[place * a_.lines + line] =
            packed_bytes(a_.line_elements[place], 1) + packed_bytes(ones, job_.a_bits);
        elements += a_.line_elements[place];
        nonzero += ones;
      }
    }
  }
  packed_bytes_ = packed_bytes(elements, 1) + packed_bytes(nonzero, job_.a_bits);
}

// ---------------------------------------------------------------------------------------------------- steps

// Rows of each phase in each block row, and the lines that they need.
void BlockPlan::lay_rows() {
  for (std::int64_t row = 0; row < block_rows_; ++row) {
    const Rectangle block = outputs(mapping_.order == BlockOrder::m_outside ? row * block_cols_ : row);
    Lines lines(a_.words());
    for (const Phase& phase : phases_) {
      const PassPhase& geometry = phase.geometry;
      Rows rows;
      if (phase.k_per_unit > 0) rows = {geometry.rows_before(block.row0), geometry.rows_before(block.row1)};
      rows_.push_back(rows);
      if (job_.pass != Pass::weight_gradient) add_lines(phase, rows, lines);
    }
    if (job_.pass != Pass::weight_gradient) a_.line_sets.push_back(std::move(lines));
  }
}

void BlockPlan::lay_steps() {
  for (std::int64_t block = 0; block < blocks(); ++block) {
    BlockStep step{.block = block, .block_row = block_row_of(block), .opens_block = true};
    step.row = a_.row_scope ? step.block_row : block_col_of(block);
    bool empty = true;
    for (std::size_t phase = 0; phase < phases_.size(); ++phase)
      empty = empty && rows(step.block_row, phase).begin == rows(step.block_row, phase).end;
    if (empty) {
      step.closes_block = true;
      add_step(step);
      continue;
    }
    for (step.segment = 0; step.segment < segments_; ++step.segment) {
      step.k_units = segment_units(step.segment);
      step.closes_block = step.segment == segments_ - 1;
      add_step(step);
      step.opens_block = false;
    }
  }
}

void BlockPlan::add_step(const BlockStep& step) {
  steps_.push_back(step);
  if (step.empty()) {
    a_.pieces.emplace_back();
    b_.pieces.emplace_back();
    return;
  }
  const Rectangle block = outputs(step.block);
  const std::int64_t block_col = block_col_of(step.block);
  const std::int64_t group0 = group_of(block.col0);
  const std::int64_t group1 = group_of(block.col1 - 1) + 1;
  if (job_.pass == Pass::weight_gradient) {
    const auto lines = static_cast<std::int32_t>(step.segment);
    a_.pieces.push_back({step.block_row, group0, group1, lines});
    b_.pieces.push_back({block_col, group0, group1, lines});
    return;
  }
  a_.pieces.push_back({step.segment, group0, group1, static_cast<std::int32_t>(step.block_row)});
  b_.pieces.push_back({step.segment * block_cols_ + block_col, 0, 1, 0});
}

// --------------------------------------------------------------------------------------------- the whole job

std::int64_t BlockPlan::tensor_bytes() const {
  const ConvShape& g = job_.shape;
  const Rectangle& out = job_.outputs;
  const std::int64_t group0 = group_of(out.col0);
  const std::int64_t group1 = group_of(out.col1 - 1) + 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  if (job_.pass == Pass::weight_gradient) {
    a = out.rows() * (group1 - group0) * a_.lines * g.out[1];
    std::int64_t channels = 0;
    for (std::int64_t group = group0; group < group1; ++group)
      channels += channels_touched(group, out.col0, out.col1);
    b = channels * count(input_lines(0, k_units_)) * g.in[1];
  } else {
    Lines needed(a_.words());
    for (std::int64_t row = 0; row < block_rows_; ++row) {
      for (std::size_t i = 0; i < needed.size(); ++i) needed[i] |= a_.line_sets[row][i];
    }
    const std::int64_t width = job_.pass == Pass::forward ? g.in[1] : g.out[1];
    a = (group1 - group0) * k_units_ * count(needed) * width;
    if (scheduled_macs() > 0) b = out.cols() * k_units_ * g.kernel[0] * g.kernel[1];
  }
  const bool x = job_.statistics == DrainStatistics::backward;
  return (job_.packed ? packed_bytes_ : packed_bytes(a, job_.a_bits)) + packed_bytes(b, job_.b_bits) +
         packed_bytes(out.elements(), job_.c_bits) + (x ? packed_bytes(out.elements(), job_.x_bits) : 0);
}

std::int64_t BlockPlan::scheduled_macs() const {
  const Rectangle& out = job_.outputs;
  std::int64_t macs = 0;
  for (const Phase& phase : phases_) {
    const std::int64_t rows = phase.geometry.rows_before(out.row1) - phase.geometry.rows_before(out.row0);
    macs += rows * out.cols() * k_units_ * phase.k_per_unit;
  }
  return macs;
}

}  // namespace mantissa
