#include "testbench/machine/block_cases.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "sim/arch/block_plan.hpp"
#include "sim/arch/sizes.hpp"
#include "testbench/machine/machine_cases.hpp"
#include "testbench/machine/one_of.hpp"

namespace mantissa::test {
namespace {

std::int64_t upto(std::mt19937_64& engine, std::int64_t most) {
  return 1 + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(most));
}

ConvShape random_shape(std::mt19937_64& engine) {
  ConvShape g;
  if (engine() % 4 == 0) {  // a linear layer
    g.batch = upto(engine, 40);
    g.in_channels = upto(engine, 40);
    g.out_channels = upto(engine, 40);
    return g;
  }
  g.batch = upto(engine, 3);
  const bool depthwise = engine() % 5 == 0;
  g.groups = depthwise ? upto(engine, 9) : one_of<std::int64_t>(engine, {1, 1, 1, 2, 3});
  g.in_channels = g.groups * (depthwise ? 1 : upto(engine, 6));
  g.out_channels = g.groups * (depthwise ? upto(engine, 2) : upto(engine, 7));
  for (int side = 0; side < 2; ++side) {
    g.kernel[side] = upto(engine, 3);
    g.stride[side] = one_of<std::int64_t>(engine, {1, 1, 2, 3});
    g.dilation[side] = one_of<std::int64_t>(engine, {1, 1, 1, 2});
    g.padding[side] = static_cast<std::int64_t>(engine() % 3);
    const std::int64_t span = g.dilation[side] * (g.kernel[side] - 1) + 1;
    g.in[side] = std::max<std::int64_t>(1, span - 2 * g.padding[side]) + upto(engine, 8) - 1;
  }
  g.out = g.fitting_out();
  return g;
}

std::int64_t random_block(std::mt19937_64& engine, std::int64_t multiple, std::int64_t all) {
  if (engine() % 4 == 0) return all;
  return std::min(all, multiple * upto(engine, std::min<std::int64_t>(4, ceil_div(all, multiple))));
}

// All of K, or units of which every phase makes whole windows.
std::int64_t random_segment(std::mt19937_64& engine, const Architecture& arch, const ConvShape& shape,
                            Pass pass) {
  const std::int64_t units = pass == Pass::forward          ? shape.in_group()
                             : pass == Pass::input_gradient ? shape.out_group()
                                                            : shape.batch * shape.out[0];
  std::vector<std::int64_t> fitting{units};
  for (std::int64_t size = 1; size < units; ++size) {
    bool whole = true;
    for (const PassPhase& phase : phases_of(shape, pass)) {
      const std::int64_t k = pass == Pass::weight_gradient ? shape.out[1] : phase.taps_in_all();
      whole = whole && size * k % arch.window == 0;
    }
    if (whole) fitting.insert(fitting.end(), 2, size);
  }
  return fitting[engine() % fitting.size()];
}

Rectangle random_outputs(std::mt19937_64& engine, const Architecture& arch, const ConvShape& shape,
                         Pass pass) {
  const PassSides sides = sides_of(shape, pass);
  const std::int64_t columns = sides.n * shape.groups;
  if (engine() % 3 != 0) return {0, sides.m, 0, columns};
  Rectangle part;
  part.row0 = static_cast<std::int64_t>(engine() % ceil_div(sides.m, arch.rows)) * arch.rows;
  part.row1 = part.row0 + upto(engine, sides.m - part.row0);
  part.col0 = static_cast<std::int64_t>(engine() % columns);
  part.col1 = part.col0 + upto(engine, columns - part.col0);
  return part;
}

// Between what one step needs and what all need.
void random_buffers(std::mt19937_64& engine, const ArrayFormats& formats, BlockCase& made) {
  const BlockJob job = shape_of(made.pass.job(made.arch, formats), formats);
  const BlockPlan plan(made.arch, job, made.pass.mapping);
  const auto size = [&](const BlockOperand& operand) {
    std::int64_t all = 0;
    for (const std::int64_t elements : operand.line_elements) all += elements * operand.lines;
    return packed_bytes(all, operand.bits);
  };
  const Rectangle block = plan.largest_block();
  const std::int64_t sums = packed_bytes(block.elements(), job.sum_bits);
  made.arch.c_buffer_bytes = sums + static_cast<std::int64_t>(engine() % (2 * sums));
  // The first that fits: from small ones on, and sometimes large at once.
  double share = engine() % 4 == 0 ? 1 : 0.02;
  while (true) {
    const auto part = [&](std::int64_t bytes) {
      const double chosen = share * std::uniform_real_distribution<double>(0.5, 1.5)(engine);
      return 1 + static_cast<std::int64_t>(chosen * static_cast<double>(bytes));
    };
    made.arch.a_buffer_bytes = part(size(plan.a()));
    made.arch.b_buffer_bytes = part(size(plan.b()));
    try {
      estimated_block_cycles(made.arch, job, made.pass.mapping, 1);
      return;
    } catch (const std::invalid_argument&) {
      share *= 1.3;
    }
  }
}

// Between a minimum and a maximum that mostly have zero between them: padding and holes hold what stands for
// it.
GemmlowpRange random_range(std::mt19937_64& engine, int bits) {
  std::normal_distribution<float> normal(0, 1);
  const float min = engine() % 8 == 0 ? normal(engine) : -std::abs(normal(engine));
  return GemmlowpRange::between(min, std::max(min, 0.F) + std::abs(normal(engine)), bits);
}

void random_tensors(std::mt19937_64& engine, const ArrayFormats& formats, OwnedPass& pass) {
  const ConvShape& g = pass.shape;
  const std::int64_t first = pass.pass == Pass::forward ? g.inputs() : g.outputs();
  const std::int64_t second = pass.pass == Pass::weight_gradient ? g.inputs() : g.weights();
  const bool specials = engine() % 4 == 0;
  const double share = static_cast<double>(engine() % 11) / 10;
  if (formats.integers()) {
    pass.first_range = random_range(engine, formats.a.bits());
    pass.second_range = random_range(engine, formats.b.bits());
    pass.first_integers = random_integer_elements(engine, formats.a.bits(), first, share);
    pass.second_integers = random_integer_elements(engine, formats.b.bits(), second, 0.9);
    return;
  }
  pass.first = random_codes(engine, formats.a.format(), first, share, specials);
  pass.second = random_codes(engine, formats.b.format(), second, 0.9, specials);
}

}  // namespace

BlockArrayJob OwnedPass::job(const Architecture& arch, const ArrayFormats& formats) const {
  const bool integers = formats.integers();
  return {.shape = shape,
          .pass = pass,
          .mapping = mapping,
          .outputs = outputs,
          .first = integers ? EncodedTensor::integers(first_integers, first_range)
                            : EncodedTensor::codes(first, formats.a.format(), 0),
          .second = integers ? EncodedTensor::integers(second_integers, second_range)
                             : EncodedTensor::codes(second, formats.b.format(), 0),
          .bias = bias,
          .c_scale = c_scale,
          .skip = skip,
          .packed = packed,
          .draws = {.run_seed = run_seed, .stream = 0x700020100, .lanes = arch.cols, .leap = formats.leap},
          .a_bits = a_bits,
          .b_bits = b_bits,
          .c_bits = c_bits,
          .statistics = {.kind = statistics,
                         .chunks = chunks,
                         .parts = parts,
                         .scale = scale,
                         .x = EncodedTensor::codes(x, x_format, 1),
                         .gamma = gamma,
                         .mean = mean,
                         .inv = inv}};
}

std::string OwnedPass::text() const {
  std::ostringstream out;
  const auto pair = [](const std::array<std::int64_t, 2>& both) {
    return std::to_string(both[0]) + "x" + std::to_string(both[1]);
  };
  out << name_of(pass) << " of " << shape.batch << " x " << shape.in_channels << " -> " << shape.out_channels
      << " groups " << shape.groups << " in " << pair(shape.in) << " out " << pair(shape.out) << " kernel "
      << pair(shape.kernel) << " stride " << pair(shape.stride) << " padding " << pair(shape.padding)
      << " dilation " << pair(shape.dilation) << (skip ? " skip" : " dense") << (packed ? " packed" : "")
      << " outputs " << outputs.row0 << ".." << outputs.row1 << " x " << outputs.col0 << ".." << outputs.col1
      << (mapping.order == BlockOrder::m_outside ? " m" : " n") << "_outside " << mapping.m_block << ","
      << mapping.n_block << "," << mapping.k_block << " seed " << run_seed << " bits " << a_bits << ","
      << b_bits << "," << c_bits;
  return out.str();
}

std::string BlockCase::text() const {
  std::ostringstream out;
  out << arch.rows << "x" << arch.cols << " window " << arch.window << " depth " << arch.depth << " port "
      << arch.port << " latency " << arch.pipe_latency << " sum rows " << arch.sum_rows << " buffers "
      << arch.a_buffer_bytes << "," << arch.b_buffer_bytes << "," << arch.c_buffer_bytes << " DRAM "
      << arch.dram_latency_cycles << "," << arch.dram_burst_bytes << "," << arch.dram_burst_cycles.value()
      << "," << arch.dram_outstanding << " " << formats.a.name() << " x " << formats.b.name() << " to "
      << formats.accumulator.name() << " to " << formats.c.name() << " " << formats.c_rounding.name() << ": "
      << pass.text();
  return out.str();
}

BlockCase random_case(std::mt19937_64& engine, int rows, int cols,
                      const std::function<void(BlockCase&)>& fix) {
  BlockCase made;
  Architecture& arch = made.arch;
  arch = random_machine(engine, rows, cols);
  arch.window = one_of(engine, {1, 2, 3, 4, 4, 8, 16});
  arch.acc_double_buffer = false;
  arch.sum_rows = engine() % 2 == 0 ? 1 : static_cast<int>(upto(engine, rows + 2));
  arch.dram_outstanding = static_cast<int>(upto(engine, 4));
  if (engine() % 3 == 0) arch.dram_burst_cycles = one_of(engine, {Ratio(1, 3), Ratio(5, 2), Ratio(7, 4)});
  arch.mapping = Mapping::automatic;
  if (engine() % 2 == 0) arch.gradient_storage = GradientStorage::packed;
  ArrayFormats& formats = made.formats;
  formats = random_formats(engine);
  formats.c_rounding = one_of(engine, {Rounding::rne(), Rounding::sr(16), Rounding::sr(16)});
  if (arch.gradient_storage == GradientStorage::packed && engine() % 4 == 0)
    formats.a = Format::parse("e3m2");
  if (engine() % 4 == 0) formats = random_integers(engine);
  fix(made);
  OwnedPass& pass = made.pass;
  pass.shape = random_shape(engine);
  pass.pass = one_of(engine, {Pass::forward, Pass::input_gradient, Pass::weight_gradient});
  pass.outputs = random_outputs(engine, arch, pass.shape, pass.pass);
  pass.mapping = {.order = engine() % 2 == 0 ? BlockOrder::m_outside : BlockOrder::n_outside,
                  .m_block = random_block(engine, rows, pass.outputs.rows()),
                  .n_block = random_block(engine, cols, pass.outputs.cols()),
                  .k_block = random_segment(engine, arch, pass.shape, pass.pass)};
  random_tensors(engine, formats, pass);
  const ConvShape& g = pass.shape;
  if (engine() % 2 == 0) {
    std::normal_distribution<float> normal(0, 4);
    for (std::int64_t col = 0; col < sides_of(g, pass.pass).n * g.groups; ++col)
      pass.bias.push_back(normal(engine));
  }
  pass.c_scale = static_cast<int>(engine() % 13) - 6;
  pass.skip = engine() % 4 != 0;
  pass.run_seed = engine();
  if (engine() % 4 == 0) {
    pass.a_bits = std::max(formats.a.bits(), one_of(engine, {8, 11, 16, 32}));
    pass.b_bits = std::max(formats.b.bits(), one_of(engine, {8, 13, 16, 32}));
    pass.c_bits = 32;
  }
  random_buffers(engine, formats, made);
  // Packed lines have codes of their format's bits, and buffers hold codes.
  if (arch.gradient_storage == GradientStorage::packed && pass.pass != Pass::forward && !formats.integers()) {
    pass.a_bits = 0;
    pass.packed = engine() % 4 != 0;
  }
  return made;
}

}  // namespace mantissa::test
