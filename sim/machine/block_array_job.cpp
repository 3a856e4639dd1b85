#include "sim/machine/block_array_job.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

[[noreturn]] void refuse_block_job(const std::string& what) { throw std::invalid_argument(what); }

void check_elements(const char* name, const EncodedTensor& tensor, std::int64_t wanted) {
  if (static_cast<std::int64_t>(tensor.size()) == wanted) return;
  refuse_block_job(std::string(name) + " has " + std::to_string(tensor.size()) +
                   " elements; this pass takes " + std::to_string(wanted));
}

void check_packed(const BlockArrayJob& job, const Architecture& arch, const BlockJob& shape,
                  const ArrayFormats& formats) {
  if (!job.packed) return;
  if (arch.gradient_storage != GradientStorage::packed)
    refuse_block_job("packed lines on a machine with gradient_storage dense; it takes packed");
  if (formats.integers()) refuse_block_job("integers are not packed");
  if (job.pass == Pass::forward)
    refuse_block_job("the forward pass has no packed lines; gradients may be packed");
  if (shape.a_bits != formats.a.bits()) {
    refuse_block_job("packed lines of elements of " + std::to_string(shape.a_bits) +
                     " bits; they have those of their format, " + std::to_string(formats.a.bits()));
  }
}

}  // namespace

BlockJob shape_of(const BlockArrayJob& job, const ArrayFormats& formats) {
  return {.shape = job.shape,
          .pass = job.pass,
          .outputs = job.outputs,
          .a_bits = job.a_bits != 0 ? job.a_bits : formats.a.bits(),
          .b_bits = job.b_bits != 0 ? job.b_bits : formats.b.bits(),
          .c_bits = job.c_bits != 0 ? job.c_bits : formats.c_bits(),
          .sum_bits = formats.sum_bits(),
          .skip = job.skip,
          .packed = job.packed,
          .statistics = job.statistics.kind,
          .x_bits = job.statistics.x.type().bits()};
}

// Results of the pass as a tensor [batch, channels, pixels].
ResultTensor results_of(const BlockArrayJob& job) {
  const ConvShape& g = job.shape;
  if (job.pass == Pass::input_gradient) return {g.in_channels, g.in[0] * g.in[1]};
  return {g.out_channels, g.out[0] * g.out[1]};
}

void check_statistics(const BlockArrayJob& job, std::int64_t rows, std::int64_t columns) {
  const DrainStatisticsJob& norm = job.statistics;
  if (norm.kind == DrainStatistics::none) return;
  if (job.pass == Pass::weight_gradient)
    refuse_block_job("a weight gradient has no channels of a batch norm");
  if (norm.chunks < 1 || job.outputs.rows() % norm.chunks != 0) {
    refuse_block_job(std::to_string(job.outputs.rows()) + " rows in " + std::to_string(norm.chunks) +
                     " chunks");
  }
  if (norm.parts < 1 || job.outputs.rows() % norm.parts != 0) {
    refuse_block_job(std::to_string(job.outputs.rows()) + " rows in " + std::to_string(norm.parts) +
                     " parts");
  }
  if (norm.kind == DrainStatistics::forward) return;
  check_elements("the batch norm's x", norm.x, rows * columns);
  for (const std::span<const float> numbers : {norm.gamma, norm.mean, norm.inv}) {
    if (std::ssize(numbers) != columns)
      refuse_block_job("a batch norm has a gamma, mean and inv per channel");
  }
}

void check_job(const BlockArrayJob& job, const Architecture& arch, const ArrayFormats& formats) {
  check_conv_shape(job.shape);
  const PassSides sides = sides_of(job.shape, job.pass);
  const std::int64_t columns = sides.n * job.shape.groups;
  const Rectangle& out = job.outputs;
  if (out.row0 < 0 || out.rows() < 1 || out.row1 > sides.m || out.col0 < 0 || out.cols() < 1 ||
      out.col1 > columns || out.row0 % arch.rows != 0) {
    refuse_block_job("outputs [" + std::to_string(out.row0) + ", " + std::to_string(out.row1) + ") x [" +
                     std::to_string(out.col0) + ", " + std::to_string(out.col1) + ") of " +
                     std::to_string(sides.m) + " x " + std::to_string(columns) +
                     "; they are a part of it, from a multiple of " + std::to_string(arch.rows) + " rows on");
  }
  if (job.first.type() != formats.a || job.second.type() != formats.b) {
    refuse_block_job("operands of " + job.first.type().name() + " x " + job.second.type().name() +
                     " on an array of " + formats.a.name() + " x " + formats.b.name());
  }
  const bool weights = job.pass != Pass::weight_gradient;
  check_elements("the first operand", job.first,
                 job.pass == Pass::forward ? job.shape.inputs() : job.shape.outputs());
  check_elements("the second operand", job.second, weights ? job.shape.weights() : job.shape.inputs());
  if (!job.bias.empty() && static_cast<std::int64_t>(job.bias.size()) != columns) {
    refuse_block_job("a pass of " + std::to_string(columns) + " columns has " +
                     std::to_string(job.bias.size()) + " biases; it takes one per column or none");
  }
  if (job.c_scale < -128 || job.c_scale > 127)
    refuse_block_job("a drain quantizer has scales of -128..127, not " + std::to_string(job.c_scale));
  check_statistics(job, sides.m, columns);
  const BlockJob shape = shape_of(job, formats);
  if (shape.a_bits < formats.a.bits() || shape.b_bits < formats.b.bits() || shape.c_bits < formats.c_bits())
    refuse_block_job("an element has at least as many bits in memory as its format");
  check_packed(job, arch, shape, formats);
  if (!formats.stochastic()) return;
  job.draws.check();
  if (job.draws.leap != formats.leap) {
    refuse_block_job("draws with a leap of " + std::to_string(job.draws.leap) +
                     " on an array whose generators leap " + std::to_string(formats.leap));
  }
}

}  // namespace mantissa
