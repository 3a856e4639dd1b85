#include "testbench/replay/random_jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/recipe/recipe_yaml.hpp"
#include "sim/trace/layer_shapes.hpp"
#include "testbench/machine/one_of.hpp"

namespace mantissa::test {
namespace {

using Engine64 = std::mt19937_64;

std::int64_t between(Engine64& engine, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low + 1));
}

bool one_in(Engine64& engine, std::uint64_t count) { return engine() % count == 0; }

trace::InputValues random_input(Engine64& engine) {
  return one_of(engine, {trace::InputValues::dense, trace::InputValues::relu, trace::InputValues::pooled});
}

// Of an image; drawn until there is an output.
trace::NetworkLayer random_conv(Engine64& engine, const std::string& name,
                                const std::vector<std::int64_t>& input) {
  trace::NetworkLayer made;
  made.layer.name = name;
  made.layer.kind = LayerKind::conv2d;
  made.layer.groups = one_of<std::int64_t>(engine, {1, 1, 2, 3, input[1]});
  if (input[1] % made.layer.groups != 0) made.layer.groups = 1;
  made.layer.input_gradient = !one_in(engine, 5);
  made.input = input;
  made.weight = {made.layer.groups * between(engine, 1, 4), input[1] / made.layer.groups, 0, 0};
  made.output = {input[0], made.weight[0], 0, 0};
  for (int side = 0; side < 2; ++side) {
    while (made.output[2 + side] == 0) {
      made.weight[2 + side] = one_of<std::int64_t>(engine, {1, 2, 3, 3, 5});
      made.layer.stride[side] = one_of<std::int64_t>(engine, {1, 1, 2, 3});
      made.layer.dilation[side] = one_of<std::int64_t>(engine, {1, 1, 2, 3});
      // No further than the kernel reaches.
      const std::int64_t reach = made.layer.dilation[side] * (made.weight[2 + side] - 1);
      made.layer.padding[side] = between(engine, 0, std::min<std::int64_t>(3, reach));
      made.output[2 + side] =
          trace::convolved_size(input[2 + side], made.weight[2 + side], made.layer.stride[side],
                                made.layer.padding[side], made.layer.dilation[side]);
    }
  }
  made.bias = one_in(engine, 2);
  made.values = random_input(engine);
  made.into_relu = one_in(engine, 2);
  return made;
}

trace::NetworkLayer random_linear(Engine64& engine, const std::string& name,
                                  const std::vector<std::int64_t>& input) {
  trace::NetworkLayer made;
  made.layer.name = name;
  made.layer.kind = LayerKind::linear;
  made.layer.input_gradient = !one_in(engine, 5);
  made.input = input;
  made.weight = {between(engine, 1, 12), input.back()};
  made.output = input;
  made.output.back() = made.weight[0];
  made.bias = one_in(engine, 2);
  made.values = random_input(engine);
  made.into_relu = one_in(engine, 2);
  return made;
}

trace::NetworkLayer norm_behind(const std::string& name, const trace::NetworkLayer& before) {
  trace::NetworkLayer made;
  made.layer.name = name;
  made.layer.kind = LayerKind::batchnorm;
  made.input = made.output = before.output;
  return made;
}

// Batch norms need two elements in a channel.
bool has_norm(const trace::NetworkLayer& before) {
  const std::vector<std::int64_t>& out = before.output;
  return out[0] * (out.size() == 4 ? out[2] * out[3] : 1) >= 2;
}

// Two or three layers that multiply, with batch norms behind some of them.
trace::Network random_network(Engine64& engine) {
  trace::Network network;
  const bool images = !one_in(engine, 5);
  std::vector<std::int64_t> shape{between(engine, 1, 4), between(engine, 1, 8)};
  if (images) shape.insert(shape.end(), {between(engine, 1, 10), between(engine, 1, 10)});
  const std::int64_t layers = between(engine, 2, 3);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const bool linear = shape.size() == 2 || (i + 1 == layers && one_in(engine, 3));
    if (linear && shape.size() == 4) shape = {shape[0], shape[1] * shape[2] * shape[3]};
    network.push_back(linear ? random_linear(engine, name, shape) : random_conv(engine, name, shape));
    shape = network.back().output;
    if (one_in(engine, 4) || !has_norm(network.back())) continue;
    network.push_back(norm_behind("norm" + std::to_string(i), trace::NetworkLayer(network.back())));
  }
  return network;
}

// The shipped ones, and fp8 with Range BN on codes; with layers in FP32 at the ends or without.
Recipe random_recipe(Engine64& engine) {
  const auto name =
      one_of<std::string>(engine, {"fp8", "lognormal-sparse", "int8-rangebn", "range", "range"});
  const std::string exempt_first = one_in(engine, 3) ? "true" : "false";
  const std::string exempt_last = one_in(engine, 3) ? "true" : "false";
  Recipe recipe = load_recipe(name == "range" ? "fp8" : name,
                              {{"exempt_first", exempt_first}, {"exempt_last", exempt_last}})
                      .value;
  if (name != "range") return recipe;
  recipe.name = name;
  recipe.norm.kind = NormRule::Kind::range;
  recipe.norm.range.channel.chunks = one_of<std::int64_t>(engine, {1, 2, 4, 16});
  recipe.norm.range.channel.constant = one_of(engine, {RangeConstant::paper, RangeConstant::reference});
  return recipe;
}

void draw_array(Engine64& engine, Arrays arrays, const Recipe& recipe, Architecture& arch) {
  arch.rows = static_cast<int>(between(engine, 1, 8));
  arch.cols = static_cast<int>(between(engine, 1, 8));
  arch.window = static_cast<int>(between(engine, 1, 12));
  arch.depth = static_cast<int>(between(engine, 1, 4));
  arch.port = static_cast<int>(between(engine, 1, 6));
  arch.sum_rows = static_cast<int>(between(engine, 1, 5));
  if (arrays == Arrays::any) return;
  // Those of build_rtl_arrays.cpp.
  arch.window = 4;
  const bool wide = !recipe.weights.type.is_integer() && one_in(engine, 2);
  arch.rows = 4;
  arch.cols = wide ? 8 : 4;
  arch.depth = wide ? 1 : 2;
  arch.port = wide ? 1 : 4;
  arch.sum_rows = wide ? 3 : 1;
}

void draw_mapping(Engine64& engine, Architecture& arch) {
  arch.mapping = one_of(engine, {Mapping::automatic, Mapping::given});
  if (arch.mapping == Mapping::automatic) return;
  arch.blocks = {.order = one_of(engine, {BlockOrder::m_outside, BlockOrder::n_outside}),
                 .m_block = arch.rows * between(engine, 1, 6),
                 .n_block = arch.cols * between(engine, 1, 4),
                 .k_block = between(engine, 1, 6)};
}

std::int64_t random_bytes(Engine64& engine) {
  const std::int64_t power = std::int64_t{1} << between(engine, 7, 14);
  return power + between(engine, 0, power);
}

}  // namespace

RandomJob random_job(Engine64& engine, Arrays arrays) {
  RandomJob job;
  job.network = random_network(engine);
  job.recipe = random_recipe(engine);
  job.numbers = {.seed = engine(), .sparsity = one_of(engine, {0.0, 0.5, 0.9})};
  if (!one_in(engine, 3)) job.numbers.gradient_sparsity = one_of(engine, {0.0, 0.5, 0.85, 0.97});
  Architecture& arch = job.arch;
  draw_array(engine, arrays, job.recipe, arch);
  draw_mapping(engine, arch);
  arch.skip_gradients = !one_in(engine, 4);
  arch.skip_forward = one_in(engine, 4);
  arch.a_buffer_bytes = random_bytes(engine);
  arch.b_buffer_bytes = random_bytes(engine);
  arch.c_buffer_bytes = random_bytes(engine);
  arch.dram_latency_cycles = one_of<std::int64_t>(engine, {0, 1, 6, 40});
  arch.dram_burst_bytes = one_of<std::int64_t>(engine, {1, 4, 16, 64});
  arch.dram_burst_cycles = one_of<Ratio>(engine, {1, 2, 8, Ratio(3, 2)});
  arch.dram_outstanding = static_cast<int>(between(engine, 1, 6));
  arch.gradient_storage = one_of(engine, {GradientStorage::dense, GradientStorage::packed});
  arch.norm_fusion = one_of(engine, {NormFusion::none, NormFusion::drain});
  arch.update_lanes = one_of(engine, {0, 1, 3, 8});
  arch.norm_lanes = static_cast<int>(between(engine, 1, 6));
  arch.fp32_macs_per_cycle = static_cast<int>(between(engine, 1, std::int64_t{arch.rows} * arch.cols));
  return job;
}

Architecture plain_machine(const Architecture& arch) {
  Architecture plain;
  plain.rows = arch.rows;
  plain.cols = arch.cols;
  return plain;
}

std::string text_of(const RandomJob& job) {
  const Architecture& arch = job.arch;
  std::string text = fmt::format(
      "recipe {}, array {} x {}, window {}, depth {}, port {}, sum_rows {}, skip {} {}, buffers "
      "{} {} {}, DRAM {} {} {}/{}, {} outstanding, gradients {}, fusion {}, {} norm lanes, {} "
      "update lanes, ",
      job.recipe.name, arch.rows, arch.cols, arch.window, arch.depth, arch.port, arch.sum_rows,
      arch.skip_forward, arch.skip_gradients, arch.a_buffer_bytes, arch.b_buffer_bytes, arch.c_buffer_bytes,
      arch.dram_latency_cycles, arch.dram_burst_bytes, arch.dram_burst_cycles.numerator,
      arch.dram_burst_cycles.denominator, arch.dram_outstanding, name_of(arch.gradient_storage),
      name_of(arch.norm_fusion), arch.norm_lanes, arch.update_lanes);
  text += arch.mapping == Mapping::automatic
              ? "mapping auto"
              : fmt::format("mapping {} {} x {} x {}", name_of(arch.blocks.order), arch.blocks.m_block,
                            arch.blocks.n_block, arch.blocks.k_block);
  for (const trace::NetworkLayer& each : job.network) {
    text += fmt::format("\n  {} {} of {}, weight {}, groups {}, stride {}, padding {}, dilation {}{}",
                        name_of(each.layer.kind), each.layer.name, fmt::join(each.input, "x"),
                        fmt::join(each.weight, "x"), each.layer.groups, fmt::join(each.layer.stride, "x"),
                        fmt::join(each.layer.padding, "x"), fmt::join(each.layer.dilation, "x"),
                        each.layer.input_gradient ? "" : ", no input gradient");
  }
  return text;
}

}  // namespace mantissa::test
