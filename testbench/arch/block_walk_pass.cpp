#include "testbench/arch/block_walk_pass.hpp"

#include <algorithm>
#include <stdexcept>

namespace mantissa::test {

std::vector<Range> cut(Range whole, Count part) {
  std::vector<Range> parts;
  for (Count first = whole.first; first < whole.end; first += part)
    parts.push_back({first, std::min(first + part, whole.end)});
  return parts;
}

Count bytes_of(Count elements, int bits) {
  const Count all = elements * bits;
  return all / 8 + (all % 8 != 0 ? 1 : 0);
}

WalkedPass::WalkedPass(const BlockJob& job, const std::vector<std::uint8_t>& first_nonzero)
    : shape_(job.shape), pass_(job.pass), nonzero_(first_nonzero) {
  check_conv_shape(shape_);
  if (pass_ == Pass::update) throw std::invalid_argument("the update multiplies nothing");
  const Count elements = pass_ == Pass::forward ? shape_.inputs() : shape_.outputs();
  if (static_cast<Count>(nonzero_.size()) != elements)
    throw std::invalid_argument("non-zeros of another tensor");
  if (job.packed && (pass_ == Pass::forward || job.fp32 || job.a_bits < 2 || job.a_bits > 8))
    throw std::invalid_argument("only gradients of 2 to 8 bits are packed");
  if (job.statistics == DrainStatistics::backward && job.x_bits < 1)
    throw std::invalid_argument("statistics of an x without bits");
  const Rectangle& outputs = job.outputs;
  if (outputs.row0 < 0 || outputs.row0 >= outputs.row1 || outputs.row1 > rows() || outputs.col0 < 0 ||
      outputs.col0 >= outputs.col1 || outputs.col1 > group_cols() * shape_.groups)
    throw std::invalid_argument("no such outputs");
}

Count WalkedPass::rows() const {
  switch (pass_) {
    case Pass::forward:
      return shape_.batch * shape_.out[0] * shape_.out[1];
    case Pass::input_gradient:
      return shape_.batch * shape_.in[0] * shape_.in[1];
    default:
      return shape_.out_group();
  }
}

Count WalkedPass::group_cols() const {
  switch (pass_) {
    case Pass::forward:
      return shape_.out_group();
    case Pass::input_gradient:
      return shape_.in_group();
    default:
      return shape_.in_group() * shape_.kernel[0] * shape_.kernel[1];
  }
}

Count WalkedPass::units() const {
  switch (pass_) {
    case Pass::forward:
      return shape_.in_group();
    case Pass::input_gradient:
      return shape_.out_group();
    default:
      return shape_.batch * shape_.out[0];
  }
}

Count WalkedPass::phases() const {
  return pass_ == Pass::input_gradient ? shape_.stride[0] * shape_.stride[1] : 1;
}

std::vector<WalkedPass::Tap> WalkedPass::taps(Count phase) const {
  std::vector<Tap> found;
  for (Count kr = 0; kr < shape_.kernel[0]; ++kr) {
    for (Count kc = 0; kc < shape_.kernel[1]; ++kc) {
      // Any h and w of the phase will do, the first ones for instance.
      const Count down = phase / shape_.stride[1] + shape_.padding[0] - kr * shape_.dilation[0];
      const Count right = phase % shape_.stride[1] + shape_.padding[1] - kc * shape_.dilation[1];
      const bool whole = down % shape_.stride[0] == 0 && right % shape_.stride[1] == 0;
      if (pass_ != Pass::input_gradient || whole) found.emplace_back(kr, kc);
    }
  }
  return found;
}

Place WalkedPass::place(Count m) const {
  const auto& image = pass_ == Pass::forward ? shape_.out : shape_.in;
  return {m / (image[0] * image[1]), m / image[1] % image[0], m % image[1]};
}

bool WalkedPass::in_phase(Count phase, Count m) const {
  if (pass_ != Pass::input_gradient) return true;
  const auto [b, h, w] = place(m);
  return (h % shape_.stride[0]) * shape_.stride[1] + w % shape_.stride[1] == phase;
}

std::vector<Place> WalkedPass::ks(Count phase, Range units) const {
  std::vector<Place> all;
  for (Count unit = units.first; unit < units.end; ++unit) {
    if (pass_ == Pass::weight_gradient) {
      for (Count ow = 0; ow < shape_.out[1]; ++ow)
        all.push_back({unit / shape_.out[0], unit % shape_.out[0], ow});
    } else {
      for (const auto& [kr, kc] : taps(phase)) all.push_back({unit, kr, kc});
    }
  }
  return all;
}

bool WalkedPass::gradient_at(Count b, Count o, Count oh, Count ow) const {
  return nonzero_[((b * shape_.out_channels + o) * shape_.out[0] + oh) * shape_.out[1] + ow] != 0;
}

bool WalkedPass::nonzero(Count group, Count m, const Place& k) const {
  if (pass_ == Pass::weight_gradient) return gradient_at(k[0], group * shape_.out_group() + m, k[1], k[2]);
  const auto [b, row, col] = place(m);
  const auto [channel, kr, kc] = k;
  if (pass_ == Pass::forward) {
    const Count y = row * shape_.stride[0] + kr * shape_.dilation[0] - shape_.padding[0];
    const Count x = col * shape_.stride[1] + kc * shape_.dilation[1] - shape_.padding[1];
    if (y < 0 || y >= shape_.in[0] || x < 0 || x >= shape_.in[1]) return false;
    const Count c = group * shape_.in_group() + channel;
    return nonzero_[((b * shape_.in_channels + c) * shape_.in[0] + y) * shape_.in[1] + x] != 0;
  }
  const Count down = row + shape_.padding[0] - kr * shape_.dilation[0];
  const Count right = col + shape_.padding[1] - kc * shape_.dilation[1];
  if (down % shape_.stride[0] != 0 || right % shape_.stride[1] != 0)
    throw std::logic_error("a hole was scheduled");
  const Count oh = down / shape_.stride[0];
  const Count ow = right / shape_.stride[1];
  if (oh < 0 || oh >= shape_.out[0] || ow < 0 || ow >= shape_.out[1]) return false;
  return gradient_at(b, group * shape_.out_group() + channel, oh, ow);
}

std::set<Count> WalkedPass::groups(const StepPlace& step) const {
  std::set<Count> found;
  for (Count col = step.cols.first; col < step.cols.end; ++col) found.insert(col / group_cols());
  return found;
}

std::set<Count> WalkedPass::rows_met_by(Count oh) const {
  std::set<Count> met;
  for (Count kr = 0; kr < shape_.kernel[0]; ++kr) {
    const Count y = oh * shape_.stride[0] + kr * shape_.dilation[0] - shape_.padding[0];
    if (y >= 0 && y < shape_.in[0]) met.insert(y);
  }
  return met;
}

Lines WalkedPass::lines_of_a(const StepPlace& step) const {
  Lines lines;
  const auto need = [&](Count group, Count b, Count y, Count channels) {
    auto& line = lines[{step.segment, group, b, y}];
    for (Count c = step.units.first; c < step.units.end; ++c) line.insert({b, group * channels + c, y});
  };
  for (const Count group : groups(step)) {
    if (pass_ == Pass::weight_gradient) {
      // Every line of the segment is in A, also one that meets nothing but padding: its elements take their
      // turn in the array as any other's.
      for (Count unit = step.units.first; unit < step.units.end; ++unit) {
        const Count b = unit / shape_.out[0];
        const Count oh = unit % shape_.out[0];
        auto& line = lines[{step.block_row, group, b, oh}];
        for (Count o = step.rows.first; o < step.rows.end; ++o)
          line.insert({b, group * shape_.out_group() + o, oh});
      }
      continue;
    }
    for (Count m = step.rows.first; m < step.rows.end; ++m) {
      if (!in_phase(step.phase, m)) continue;
      const auto [b, row, col] = place(m);
      if (pass_ == Pass::forward) {
        for (const Count y : rows_met_by(row)) need(group, b, y, shape_.in_group());
        continue;
      }
      for (const auto& [kr, kc] : taps(step.phase)) {
        const Count down = row + shape_.padding[0] - kr * shape_.dilation[0];
        const Count oh = down / shape_.stride[0];
        if (down % shape_.stride[0] == 0 && down >= 0 && oh < shape_.out[0])
          need(group, b, oh, shape_.out_group());
      }
    }
  }
  return lines;
}

Lines WalkedPass::lines_of_b(const StepPlace& step) const {
  Lines lines;
  if (pass_ != Pass::weight_gradient) {
    auto& line = lines[{step.segment, step.block_col, 0, 0}];
    for (Count col = step.cols.first; col < step.cols.end; ++col) {
      for (Count c = step.units.first; c < step.units.end; ++c) line.insert({col, c, 0});
    }
    return lines;
  }
  for (Count unit = step.units.first; unit < step.units.end; ++unit) {
    const Count b = unit / shape_.out[0];
    for (const Count y : rows_met_by(unit % shape_.out[0])) {
      for (Count col = step.cols.first; col < step.cols.end; ++col) {
        const Count group = col / group_cols();
        const Count c = col % group_cols() / (shape_.kernel[0] * shape_.kernel[1]);
        lines[{step.block_col, group, b, y}].insert({b, group * shape_.in_group() + c, y});
      }
    }
  }
  return lines;
}

Count WalkedPass::row_of_a() const { return pass_ == Pass::forward ? shape_.in[1] : shape_.out[1]; }
Count WalkedPass::nonzero_in_gradient(const TensorRow& row) const {
  const auto [b, o, oh] = row;
  Count count = 0;
  for (Count ow = 0; ow < shape_.out[1]; ++ow) count += gradient_at(b, o, oh, ow) ? 1 : 0;
  return count;
}

Count WalkedPass::row_of_b() const {
  return pass_ == Pass::weight_gradient ? shape_.in[1] : shape_.kernel[0] * shape_.kernel[1];
}

}  // namespace mantissa::test
