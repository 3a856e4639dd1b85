#include "testbench/arch/block_cases.hpp"

#include <algorithm>
#include <stdexcept>

#include "testbench/arch/block_walk_traffic.hpp"
#include "testbench/arch/dice.hpp"

namespace mantissa::test {
namespace {

// A walk's time is about this many cycles at most.
constexpr Count max_dense_cycles = 6000;

class CaseMaker : Dice {
 public:
  // Extended: also what lies in packed lines, and drains that take statistics.
  CaseMaker(std::mt19937_64& random, bool extended) : Dice(random), extended_(extended) {}

  BlockCase make() {
    do {
      machine();
      layer();
    } while (!small());
    outputs();
    elements();
    if (extended_) extend();
    mapping();
    buffers();
    return case_;
  }

 private:
  void machine() {
    Architecture& arch = case_.arch;
    arch.rows = static_cast<int>(pick(1, pick(1, 8)));
    arch.cols = static_cast<int>(pick(1, pick(1, 8)));
    arch.window = one_of({1, 2, 2, 3, 4, 4, 5, 8, 16});
    arch.depth = static_cast<int>(pick(1, 3));
    arch.port = static_cast<int>(pick(1, 6));
    arch.pipe_latency = static_cast<int>(pick(0, 4));
    arch.dram_latency_cycles = chance(20) ? 0 : pick(1, 40);
    arch.dram_burst_bytes = one_of<Count>({1, 2, 3, 4, 8, 16, 64});
    arch.dram_burst_cycles = chance(50) ? Ratio(pick(1, 4)) : Ratio{pick(1, 12), pick(2, 7)};
    arch.dram_outstanding = static_cast<int>(pick(1, 4));
    arch.fp32_macs_per_cycle = static_cast<int>(pick(1, 20));
  }

  void layer() {
    ConvShape& shape = case_.job.shape;
    shape = {};
    shape.batch = pick(1, 3);
    if (chance(15)) {
      shape.in_channels = pick(1, 24);
      shape.out_channels = pick(1, 24);
    } else {
      const bool depthwise = chance(15);
      shape.groups = depthwise ? pick(2, 6) : one_of<Count>({1, 1, 1, 2, 3});
      shape.in_channels = shape.groups * (depthwise ? 1 : pick(1, 6));
      shape.out_channels = shape.groups * (depthwise ? pick(1, 2) : pick(1, 6));
      for (int axis = 0; axis < 2; ++axis) {
        shape.kernel[axis] = pick(1, 3);
        shape.stride[axis] = one_of<Count>({1, 1, 1, 2, 2, 3});
        shape.padding[axis] = pick(0, 2);
        shape.dilation[axis] = one_of<Count>({1, 1, 1, 2, 3});
        const Count span = shape.dilation[axis] * (shape.kernel[axis] - 1) + 1;
        shape.in[axis] = std::max(pick(1, 8), span - 2 * shape.padding[axis]);
      }
    }
    shape.out = shape.fitting_out();
    case_.job.pass = one_of({Pass::forward, Pass::input_gradient, Pass::weight_gradient});
  }

  Count m() const {
    const ConvShape& shape = case_.job.shape;
    if (case_.job.pass == Pass::weight_gradient) return shape.out_group();
    const auto& image = case_.job.pass == Pass::forward ? shape.out : shape.in;
    return shape.batch * image[0] * image[1];
  }
  Count global_cols() const {
    const ConvShape& shape = case_.job.shape;
    if (case_.job.pass == Pass::forward) return shape.out_channels;
    if (case_.job.pass == Pass::input_gradient) return shape.in_channels;
    return shape.groups * shape.in_group() * shape.kernel[0] * shape.kernel[1];
  }
  Count units() const {
    const ConvShape& shape = case_.job.shape;
    if (case_.job.pass == Pass::weight_gradient) return shape.batch * shape.out[0];
    return case_.job.pass == Pass::forward ? shape.in_group() : shape.out_group();
  }

  bool small() const {
    const ConvShape& shape = case_.job.shape;
    const bool gradient = case_.job.pass == Pass::weight_gradient;
    const Count k = units() * (gradient ? shape.out[1] : shape.kernel[0] * shape.kernel[1]);
    const Count row_tiles = (m() + case_.arch.rows - 1) / case_.arch.rows;
    const Count col_tiles = (global_cols() + case_.arch.cols - 1) / case_.arch.cols + shape.groups - 1;
    return row_tiles * col_tiles * k <= max_dense_cycles;
  }

  void outputs() {
    Rectangle& outputs = case_.job.outputs;
    outputs = {.row0 = 0, .row1 = m(), .col0 = 0, .col1 = global_cols()};
    if (!chance(33)) return;
    outputs.row0 = case_.arch.rows * pick(0, (m() - 1) / case_.arch.rows);
    outputs.row1 = pick(outputs.row0 + 1, m());
    outputs.col0 = pick(0, global_cols() - 1);
    outputs.col1 = pick(outputs.col0 + 1, global_cols());
  }

  void elements() {
    BlockJob& job = case_.job;
    job.fp32 = chance(8);
    job.a_bits = job.fp32 ? 32 : one_of({4, 6, 8, 8, 16, 32});
    job.b_bits = job.fp32 ? 32 : one_of({4, 6, 8, 8, 16, 32});
    job.c_bits = job.fp32 ? 32 : one_of({4, 6, 8, 8, 16, 32});
    job.sum_bits = one_of({16, 32, 48});
    job.skip = chance(65);
    const auto zeros = one_of<Count>({0, 100, pick(0, 100), pick(0, 100), pick(50, 100)});
    case_.nonzero.assign(job.pass == Pass::forward ? job.shape.inputs() : job.shape.outputs(), 0);
    for (std::uint8_t& element : case_.nonzero) element = pick(0, 99) < zeros ? 0 : 1;
  }

  void extend() {
    BlockJob& job = case_.job;
    case_.arch.dram_outstanding = static_cast<int>(pick(1, 8));
    const bool gradient = job.pass != Pass::forward;
    if (gradient && !job.fp32 && chance(70)) {
      job.packed = true;
      job.a_bits = one_of({2, 3, 4, 5, 6, 7, 8, 8, 8});
    }
    if (job.pass == Pass::weight_gradient || !chance(70)) return;
    job.statistics = gradient ? DrainStatistics::backward : DrainStatistics::forward;
    job.x_bits = one_of({4, 6, 8, 8, 16, 32});
  }

  // A multiple, all, or now and then neither.
  Count block_size(Count all, Count multiple) {
    if (chance(2)) return pick(0, all + multiple);
    if (chance(20)) return all;
    // Small ones more often: many blocks are where things happen.
    return multiple * pick(1, pick(1, (all + multiple - 1) / multiple));
  }

  void mapping() {
    BlockMapping& mapping = case_.mapping;
    mapping.order = one_of({BlockOrder::m_outside, BlockOrder::n_outside});
    mapping.m_block = block_size(case_.job.outputs.rows(), case_.arch.rows);
    mapping.n_block = block_size(case_.job.outputs.cols(), case_.arch.cols);
    std::vector<Count> legal;
    for (mapping.k_block = 1; mapping.k_block <= units(); ++mapping.k_block) {
      if (is_legal()) legal.push_back(mapping.k_block);
    }
    mapping.k_block = units();
    if (chance(3)) {
      mapping.k_block = pick(0, units() + 1);
    } else if (!legal.empty() && chance(75)) {
      mapping.k_block = legal[pick(0, static_cast<Count>(legal.size()) - 1)];
    }
  }
  // Whether a segment is everything, or whole windows in every phase.
  bool is_legal() const {
    const ConvShape& shape = case_.job.shape;
    if (case_.mapping.k_block == units()) return true;
    if (case_.job.pass == Pass::weight_gradient)
      return case_.mapping.k_block * shape.out[1] % case_.arch.window == 0;
    if (case_.job.pass == Pass::forward)
      return case_.mapping.k_block * shape.kernel[0] * shape.kernel[1] % case_.arch.window == 0;
    for (Count phase = 0; phase < shape.stride[0] * shape.stride[1]; ++phase) {
      Count taps = 0;
      for (Count tap = 0; tap < shape.kernel[0] * shape.kernel[1]; ++tap) {
        const Count down =
            phase / shape.stride[1] + shape.padding[0] - tap / shape.kernel[1] * shape.dilation[0];
        const Count right =
            phase % shape.stride[1] + shape.padding[1] - tap % shape.kernel[1] * shape.dilation[1];
        taps += down % shape.stride[0] == 0 && right % shape.stride[1] == 0 ? 1 : 0;
      }
      if (case_.mapping.k_block * taps % case_.arch.window != 0) return false;
    }
    return true;
  }

  // Sizes at which something begins to fit, and sizes between.
  void buffers() {
    case_.arch.a_buffer_bytes = case_.arch.b_buffer_bytes = case_.arch.c_buffer_bytes = pick(1, 4096);
    BufferNeeds needs;
    try {
      needs = buffer_needs(case_.job, case_.mapping,
                           plan_blocks(case_.arch, case_.job, case_.mapping, case_.nonzero));
    } catch (const std::invalid_argument&) {
      return;
    }
    case_.arch.a_buffer_bytes = operand_buffer(needs.a);
    case_.arch.b_buffer_bytes = operand_buffer(needs.b);
    case_.arch.c_buffer_bytes = one_of<Count>(
        {needs.c, 2 * needs.c - 1, 2 * needs.c, 2 * needs.c + pick(0, 100), 3 * needs.c, 65536});
    if (chance(2)) case_.arch.c_buffer_bytes = std::max<Count>(1, needs.c - 1);
  }
  Count operand_buffer(const std::array<Count, 3>& needs) {
    const auto [step, row, all] = needs;
    if (chance(2)) return std::max<Count>(1, step - 1);
    const Count some = pick(step, std::max(step, all));
    return std::max<Count>(
        1, one_of<Count>({step, step + pick(0, step), 2 * step, row, std::max(step, row - 1), all,
                          std::max(step, all - 1), some, some, 65536}));
  }

  const bool extended_;
  BlockCase case_;
};

}  // namespace

BlockCase random_block_case(std::mt19937_64& random) { return CaseMaker(random, false).make(); }
BlockCase random_extended_case(std::mt19937_64& random) { return CaseMaker(random, true).make(); }

}  // namespace mantissa::test
