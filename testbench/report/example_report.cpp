#include "testbench/report/example_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace mantissa::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

EnergyTable table(const std::string& name, double multiply, double accumulate, double sram, double dram) {
  EnergyTable result;
  result.name = name;
  result.source = "made up for the tests, " + name;
  result.node_nm = name == "table45" ? 45 : 40;
  result.voltage_v = name == "table45" ? 0.9 : 0;
  result.prices["multiply e5m2 e5m2"] = {multiply, true, "multiply", "a share of 8 x 8 bits", "a book"};
  result.prices["accumulate fp32"] = {accumulate, false, "accumulate", "", "a talk"};
  result.prices["sram byte"] = {sram, false, "sram", "", "a talk"};
  result.prices["dram byte"] = {dram, false, "dram", "", "a talk"};
  result.prices["quantize element"] = {0.4, true, "quantize", "an FP32 addition", "a talk"};
  result.figures["fp32 add"] = {0.4, false, "", "a talk"};
  return result;
}

Energy priced(const EnergyTable& of, const GemmCycles& cost) {
  const auto pj = [&of](const char* action, std::uint64_t count) {
    return of.prices.at(action).pj * static_cast<double>(count);
  };
  const double multiply = pj("multiply e5m2 e5m2", cost.macs);
  const double quantize = pj("quantize element", cost.drained);
  return {.table = of.name,
          .components = {{"accumulate", pj("accumulate fp32", cost.macs), 0},
                         {"dram", pj("dram byte", cost.dram_bytes), 0},
                         {"multiply", multiply, multiply},
                         {"quantize", quantize, quantize},
                         {"sram", pj("sram byte", cost.sram_bytes), 0}}};
}

// 100 cycles: what the pass's counts say, in four steps.
TimelineReport timeline_of(const PassReport& pass) {
  TimelineReport report{.step = pass.step,
                        .layer = pass.layer,
                        .pass = pass.pass,
                        .mapping = {},
                        .cost = pass.cost,
                        .timeline = {}};
  TimelineRecorder recorder(100);
  recorder.add(Activity::load, 0, 20);
  recorder.add(Activity::stall_load, 0, 20);
  recorder.step(20);
  recorder.add(Activity::compute, 20, 50);
  recorder.add(Activity::drain, 50, 65);
  recorder.add(Activity::stall_drain, 50, 65);
  recorder.step(65);
  recorder.add(Activity::compute, 65, 95);
  recorder.add(Activity::write_back, 90, 100);
  recorder.add(Activity::stall_write_back, 95, 100);
  report.timeline = recorder.result();
  return report;
}

class Maker {
 public:
  Maker(int steps, double sparsity) : steps_(steps), sparsity_(sparsity) {
    report_.version = "0.1.0";
    report_.engine = "fast";
    report_.trace = "example-cnn.safetensors";
    report_.trace_hash = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    report_.recipe = "lognormal-sparse";
    report_.recipe_hash = "0123456789abcdef";
    report_.arch = "edge";
    report_.arch_hash = "fedcba9876543210";
    report_.rows = 16;
    report_.cols = 16;
    report_.clock_mhz = 500;
    report_.peak_bytes_per_cycle = 32;
    for (int step = 0; step < steps; ++step)
      report_.steps.push_back({static_cast<std::uint32_t>(step * 400), 32});
    report_.tables = {table("table45", 0.2, 0.9, 1.25, 20), table("table40", 1.4, 16.4, 0.9, 25)};
    report_.notes = {"layer pool1 has no weights: left out"};
  }

  ReplayReport make(int blocks) {
    for (int step = 0; step < steps_; ++step) {
      for (int block = 0; block < blocks; ++block) {
        const std::string name = "features.block" + std::to_string(block + 1);
        const std::int64_t channels = std::min<std::int64_t>(16LL << std::min(block, 20), 512);
        const std::int64_t side = std::max<std::int64_t>(28 >> std::min(block, 4), 2);
        const std::int64_t pixels = 32 * side * side;
        convolution(step * 400, name + ".conv", block == 0 ? 9 : 9 * channels / 2, channels, pixels,
                    block == 0);
        batch_norm(step * 400, name + ".bn", channels, pixels);
      }
      convolution(step * 400, "classifier", 512, 10, 32, false);
    }
    report_.timeline = timeline_of(report_.passes.front());
    // The figures of ARITHMETIC.md 7 for independent zeros, and what a port of two might give.
    const std::vector<std::vector<double>> speedups{
        {1.32, 1.57, 1.67, 1.74}, {1.45, 1.88, 2.02, 2.07}, {1.48, 2.00, 2.19, 2.20}};
    for (int d = 0; d < 3; ++d) {
      for (int p = 0; p < 4; ++p) report_.staging.push_back({1 << d, 2 << p, speedups[d][p]});
    }
    return std::move(report_);
  }

 private:
  double uniform(double low, double high) {  // std::uniform_real_distribution differs between libraries
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }

  void convolution(int step, const std::string& layer, std::int64_t k, std::int64_t channels,
                   std::int64_t pixels, bool first) {
    const double zeros = std::clamp(sparsity_ + uniform(-0.05, 0.05), 0.0, 0.97);
    gemm(step, layer, Pass::forward, {.m = pixels, .n = channels, .k = k}, uniform(0.3, 0.5));
    if (!first) gemm(step, layer, Pass::input_gradient, {.m = pixels, .n = k, .k = channels}, zeros);
    gemm(step, layer, Pass::weight_gradient, {.m = channels, .n = k, .k = pixels}, zeros);
    tensors(step, layer, k * channels, pixels * channels, zeros);
  }

  void gemm(int step, const std::string& layer, Pass pass, GemmShape shape, double zeros) {
    PassReport one;
    one.step = static_cast<std::uint32_t>(step);
    one.layer = layer;
    one.kind = layer == "classifier" ? trace::LayerKind::linear : trace::LayerKind::conv2d;
    one.pass = pass;
    one.gemm = shape;
    one.formats = "e5m2 x e5m2 -> fp32 rne -> e5m2 sr:16";
    one.operand_sparsity = zeros;
    const auto product = static_cast<std::uint64_t>(shape.m * shape.n * shape.k);
    const bool skip = pass != Pass::forward;
    one.cost.skipped = skip ? static_cast<std::uint64_t>(zeros * static_cast<double>(product)) : 0;
    one.cost.macs = product - one.cost.skipped;
    const auto up = [](std::int64_t a, std::int64_t b) {
      return static_cast<std::uint64_t>((a + b - 1) / b);
    };
    one.cost.tiles = up(shape.m, 16) * up(shape.n, 16);
    one.cost.steps = one.cost.tiles;
    const std::uint64_t dense = one.cost.tiles * static_cast<std::uint64_t>(shape.k);
    const double left = std::max(1 - zeros, 0.1);
    one.cost.compute =
        skip ? static_cast<std::uint64_t>(static_cast<double>(dense) * left * 1.15) + 1 : dense;
    one.cost.compute = std::max(one.cost.compute, one.cost.macs / 256 + 1);
    one.cost.dram_bytes_unique =
        static_cast<std::uint64_t>(shape.m * shape.k + shape.k * shape.n + shape.m * shape.n);
    one.cost.tensor_bytes = one.cost.dram_bytes_unique;
    one.cost.dram_bytes = one.cost.dram_bytes_unique + one.cost.dram_bytes_unique / 8;
    one.scheduled_macs = product;
    // 32 bytes per cycle, no faster.
    const std::uint64_t moving = one.cost.dram_bytes / 32 + 40;
    one.cost.stall_load = moving > one.cost.compute ? moving - one.cost.compute : moving / 20;
    const std::uint64_t dense_load = moving > dense ? moving - dense : moving / 20;
    one.cost.stall_write_back = one.cost.tiles * 3;
    one.cost.stall_drain = one.cost.tiles * 18;
    one.cost.drained = static_cast<std::uint64_t>(shape.m * shape.n);
    one.cost.sram_bytes = one.cost.dram_bytes * 3;
    one.dense_cycles = dense + dense_load + one.cost.stall_write_back + one.cost.stall_drain;
    one.accumulator = {.elements = one.cost.drained, .sqnr_db = 120};
    finish(one, pass == Pass::forward ? uniform(24, 30) : uniform(14, 22));
  }

  void batch_norm(int step, const std::string& layer, std::int64_t channels, std::int64_t elements) {
    for (const Pass pass : {Pass::forward, Pass::input_gradient}) {
      PassReport one;
      one.step = static_cast<std::uint32_t>(step);
      one.layer = layer;
      one.kind = trace::LayerKind::batchnorm;
      one.pass = pass;
      one.gemm = {.m = channels, .n = 1, .k = elements};
      one.formats = "fp32";
      one.cost.compute = static_cast<std::uint64_t>((channels + 15) / 16 * (2 * elements + 40));
      one.cost.dram_bytes = one.cost.dram_bytes_unique = static_cast<std::uint64_t>(channels * elements * 3);
      one.cost.tensor_bytes = one.cost.sram_bytes = one.cost.dram_bytes;
      one.cost.stall_load = one.cost.dram_bytes / 32 - std::min(one.cost.dram_bytes / 32, one.cost.compute);
      one.cost.drained = static_cast<std::uint64_t>(channels * elements);
      finish(one, pass == Pass::forward ? infinity : uniform(90, 130));
    }
  }

  void finish(PassReport& one, double sqnr_db) {
    one.utilization = static_cast<double>(one.cost.macs) / (256.0 * static_cast<double>(one.cost.cycles()));
    for (const EnergyTable& of : report_.tables) one.energy.push_back(priced(of, one.cost));
    one.accuracy = {.elements = one.cost.drained,
                    .sqnr_db = sqnr_db,
                    .cosine = 1 - std::pow(10, -sqnr_db / 10) / 2,
                    .max_ulp = 1.5,
                    .bias = 1e-4,
                    .nonfinite = 0,
                    .overflow = one.cost.drained / 90000,
                    .underflow = one.cost.drained / 500,
                    .flushed_to_zero = one.cost.drained / 700};
    report_.passes.push_back(std::move(one));
  }

  void tensors(int step, const std::string& layer, std::int64_t weights, std::int64_t outputs, double zeros) {
    const auto add = [&](const char* of, const char* format, std::int64_t elements, double sqnr,
                         double share) {
      TensorReport tensor;
      tensor.step = static_cast<std::uint32_t>(step);
      tensor.layer = layer;
      tensor.tensor_class = of;
      tensor.format = format;
      tensor.scale = -2;
      tensor.zero_share = share;
      tensor.zero_share_in = share / 2;
      tensor.accuracy = {.elements = static_cast<std::uint64_t>(elements), .sqnr_db = sqnr, .cosine = 0.999};
      report_.tensors.push_back(std::move(tensor));
    };
    add("weights", "e5m2", weights, uniform(27, 29), 0);
    add("activations", "e5m2", outputs, uniform(26, 29), 0.45);
    add("errors", "e5m2", outputs, uniform(6, 12), zeros);
    add("weight_gradients", "e5m2", weights, uniform(22, 26), 0.01);
    gradient(step, layer, outputs, zeros);
  }

  void gradient(int step, const std::string& layer, std::int64_t elements, double zeros) {
    GradientReport one;
    one.step = static_cast<std::uint32_t>(step);
    one.layer = layer;
    one.elements = static_cast<std::uint64_t>(elements);
    one.zero_share = 0.1;
    one.mu = uniform(-14, -9);
    one.sigma = uniform(1.6, 2.6);
    one.ks_lognormal = uniform(0.02, 0.06);
    one.ks_normal = uniform(0.2, 0.3);
    one.ks_laplace = uniform(0.12, 0.2);
    one.tau = zeros > 0 ? std::exp(one.mu + one.sigma) : 0;
    one.histogram_first = std::floor(one.mu / std::log(2) - 12);
    one.histogram_width = 0.5;
    double sum = 0;
    for (int bin = 0; bin < 48; ++bin) {
      const double z = ((one.histogram_first + (bin + 0.5) * 0.5) * std::log(2) - one.mu) / one.sigma;
      // A little skewed to the left, as real gradients are.
      one.histogram.push_back(std::exp(-z * z / 2) * (z < 0 ? 1.0 : 0.93) * uniform(0.97, 1.03));
      sum += one.histogram.back();
    }
    for (double& share : one.histogram) share /= sum;
    report_.gradients.push_back(std::move(one));
  }

  int steps_;
  double sparsity_;
  ReplayReport report_;
  std::mt19937_64 random_{1};
};

}  // namespace

ReplayReport example_report(int blocks, int steps, double sparsity) {
  return Maker(steps, sparsity).make(blocks);
}

ReplayReport tiny_report() {
  ReplayReport report;
  report.version = "0.1.0";
  report.seed = 7;
  report.engine = "fast";
  report.trace = "tiny.safetensors";
  report.trace_hash = "aaaa";
  report.recipe = "fp8";
  report.recipe_hash = "bbbb";
  report.arch = "edge";
  report.arch_hash = "cccc";
  report.rows = 2;
  report.cols = 2;
  report.clock_mhz = 1;  // a cycle is a microsecond
  report.peak_bytes_per_cycle = 8;
  report.steps = {{0, 4}};
  report.tables = {table("table45", 0.5, 1, 1, 10)};

  PassReport forward;
  forward.layer = "fc";
  forward.pass = Pass::forward;
  forward.gemm = {.m = 4, .n = 5, .k = 10};
  forward.formats = "e5m2 x e5m2 -> fp32 rne -> e5m2 rne";
  forward.cost = {.compute = 60,
                  .stall_load = 20,
                  .stall_write_back = 5,
                  .stall_drain = 15,
                  .dram_bytes = 110,
                  .dram_bytes_unique = 100,
                  .tensor_bytes = 100,
                  .sram_bytes = 330,
                  .drained = 20,
                  .macs = 200,
                  .tiles = 6,
                  .steps = 6};
  forward.dense_cycles = 100;
  forward.scheduled_macs = 200;
  forward.utilization = 0.5;  // 200 / (4 * 100)
  forward.energy = {{.table = "table45", .components = {{"dram", 300, 0}, {"multiply", 100, 100}}}};
  forward.accuracy = {.elements = 20,
                      .sqnr_db = 25.5,
                      .cosine = 0.99,
                      .max_ulp = 2,
                      .bias = 0.25,
                      .nonfinite = 0,
                      .overflow = 1,
                      .underflow = 2,
                      .flushed_to_zero = 3};

  forward.accumulator = {.elements = 20, .sqnr_db = 100};

  PassReport gradient = forward;
  gradient.pass = Pass::weight_gradient;
  gradient.gemm = {.m = 5, .n = 10, .k = 4};
  gradient.cost = {.compute = 20,
                   .stall_load = 20,
                   .stall_write_back = 5,
                   .stall_drain = 5,
                   .dram_bytes = 110,
                   .dram_bytes_unique = 100,
                   .tensor_bytes = 100,
                   .sram_bytes = 300,
                   .drained = 50,
                   .macs = 50,
                   .skipped = 150,
                   .tiles = 15,
                   .steps = 15};
  gradient.suppressed = 3;
  gradient.operand_sparsity = 0.75;
  gradient.utilization = 0.25;  // 50 / (4 * 50)
  gradient.energy = {{.table = "table45", .components = {{"dram", 150, 0}, {"multiply", 50, 50}}}};
  gradient.accuracy.sqnr_db = infinity;
  gradient.accuracy.cosine = std::nan("");
  gradient.accumulator = {.elements = 10, .sqnr_db = infinity};
  report.recipe_keys = {{"arithmetic", "floating"}, {"weights.rounding", "\"sr:16\""}};
  report.arch_keys = {{"rows", "2"}, {"dram_bandwidth", "8MB/s"}};
  report.timeline = timeline_of(forward);
  report.passes = {forward, gradient};
  return report;
}

}  // namespace mantissa::test
