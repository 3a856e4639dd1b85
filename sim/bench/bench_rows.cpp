#include "sim/bench/bench_rows.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "models/kernels/draw_stream.hpp"
#include "models/kernels/gemm.hpp"
#include "models/kernels/prune.hpp"
#include "models/kernels/quantize.hpp"
#include "models/kernels/targets.hpp"
#include "models/mac/accumulator_preset.hpp"
#include "sim/bench/bench_layers.hpp"
#include "sim/bench/bench_measure.hpp"
#include "sim/bench/bench_steps.hpp"

namespace mantissa::bench {
namespace {

struct Matrix {
  std::vector<std::uint8_t> code;
  std::vector<float> value;

  Matrix(std::size_t count, const Format& format, std::uint64_t seed) : code(count), value(count) {
    const Conversion how{.to = format};
    kernels::quantize<std::uint8_t>(normal_values(count, seed), how, {}, code);
    kernels::dequantize(code, how, value);
  }
};

struct Operands {
  Matrix a, b;
  std::vector<float> c;
  GemmOperands gemm;

  Operands(int size, const Format& format, std::uint64_t seed)
      : a(static_cast<std::size_t>(size) * size, format, seed),
        b(static_cast<std::size_t>(size) * size, format, seed + 1),
        c(static_cast<std::size_t>(size) * size),
        gemm{size, size, size, a.code, b.code, format, format} {}
  double macs() const { return static_cast<double>(gemm.m * gemm.n * gemm.k); }
};

struct GemmCase {
  const char* operands;
  const char* acc;  // empty: `kind` is a preset
  const char* round;
  const char* kind;
  double target;  // ratio to sgemm with AVX-512; 0: none
};

// Targets come from what emulators and hand-written prototypes reach; the rows without one are for
// comparison.
constexpr GemmCase gemm_cases[] = {
    {"e5m2", "fp32", "rne", "plain", 0.85},
    {"e4m3", "fp32", "rne", "plain", 0.85},
    {"e5m2", "fp16", "rne", "plain", 0.10},
    {"e4m3", "e6m5", "rne", "plain", 0.10},
    {"e5m2", "e6m15", "rne", "plain", 0.10},
    {"e5m2", "fp16", "sr:12", "plain", 0.075},
    {"e5m2", "e6m5", "sr:13", "plain", 0.075},
    {"e5m2", "fp32", "rne", "aligned:4,14", 0.025},
    {"e4m3", "fp32", "rne", "aligned:32,13", 0.025},
    {"e5m2", "fp16", "rne", "chunk:64", 0},
    {"e5m2", "fp32", "rne", "fused:4", 0},
    {"e5m2", "fp32", "rne", "kulisch", 0},
    {"e4m3", "", "", "hopper", 0.10},
    {"e4m3", "", "", "hopper-128", 0.09},
    {"e4m3", "", "", "blackwell", 0},
    {"e4m3", "", "", "mma-sm90", 0},
};

class Tasks {
 public:
  Tasks(const BenchSettings& settings, const OpenBlas& blas)
      : settings_(settings),
        blas_(blas),
        e5m2_(std::make_shared<Operands>(settings.size, formats::e5m2, settings.seed)),
        e4m3_(std::make_shared<Operands>(settings.size, formats::e4m3, settings.seed)),
        values_(std::make_shared<std::vector<float>>(normal_values(settings.elements, settings.seed + 2))),
        copy_(std::make_shared<std::vector<float>>(settings.elements)),
        best_simd_(kernels::targets().front()) {}

  std::vector<BenchTask> all() {
    const bool avx512 = best_simd_ == "AVX3";
    for (const GemmCase& one : gemm_cases) {
      double target = one.target;
      if (!avx512) target = one.target == 0.85 ? 0.5 : target / 2;
      add_gemm(one, best_simd_, target);
      if (avx512 && one.target == 0.85) add_gemm(one, "AVX2", 0.5);
    }
    add_published();
    add_scalar_model();
    add_tensor("quantize fp32 -> e5m2 rne", best_simd_, avx512 ? 1.05 : 0.75, quantizer(Rounding::rne()));
    if (avx512) add_tensor("quantize fp32 -> e5m2 rne", "AVX2", 0.75, quantizer(Rounding::rne()));
    add_tensor("quantize fp32 -> e5m2 sr:16", best_simd_, 0.55, quantizer(Rounding::sr(16)));
    add_tensor("LFSR stream, 16 lanes, leap 16", best_simd_, 1.1, lfsr());
    add_tensor("dequantize e5m2 -> fp32", best_simd_, 0, dequantizer());
    add_tensor("prune fp32, r = 16", best_simd_, 0, pruner());
    for (BenchTask& task : layer_tasks(settings_, blas_)) tasks_.push_back(std::move(task));
    for (BenchTask& task : step_tasks(settings_)) tasks_.push_back(std::move(task));
    return std::move(tasks_);
  }

 private:
  static constexpr DrawSource draws{.run_seed = 1, .stream = 0, .lanes = 16, .leap = 16};

  static std::optional<double> wanted(double target) {
    return target == 0 ? std::nullopt : std::optional<double>(target);
  }

  static GemmOptions options_of(const GemmCase& one) {
    GemmOptions options;
    options.accumulator =
        one.acc[0] == '\0' ? accumulator_preset(one.kind).accumulator
                           : Accumulator::parse(one.kind, Format::parse(one.acc), Rounding::parse(one.round));
    options.draws = draws;
    return options;
  }

  std::shared_ptr<Operands> operands(const GemmCase& one) const {
    return std::string(one.operands) == "e5m2" ? e5m2_ : e4m3_;
  }

  void add_gemm(const GemmCase& one, const std::string& simd, double target) {
    const std::string sums = one.acc[0] == '\0' ? "" : std::string(one.acc) + " " + one.round + " ";
    const std::string name = std::string("gemm ") + one.operands + ", " + sums + one.kind;
    tasks_.push_back({name, [=, this, op = operands(one)] {
                        const ForcedTarget forced(simd);
                        const GemmOptions options = options_of(one);
                        const Best best = best_of(
                            settings_.repeat, [&] { kernels::gemm(op->gemm, options, op->c); },
                            [&] {
                              const int size = settings_.size;
                              blas_.sgemm(size, size, size, op->a.value.data(), op->b.value.data(),
                                          op->c.data());
                            });
                        return BenchRow{name,
                                        "GMAC/s",
                                        "sgemm",
                                        simd,
                                        op->macs() / best.ours * 1e-9,
                                        op->macs() / best.peer * 1e-9,
                                        wanted(target)};
                      }});
  }

  // Figures of emulators that no Debian package has, measured once on a like machine.
  void add_published() {
    const std::string name = "gemm e5m2, fp32 rne plain";
    tasks_.push_back({name, [=, this, op = e5m2_] {
                        const Best best = best_of(
                            settings_.repeat, [&] { kernels::gemm(op->gemm, {}, op->c); }, [] {});
                        return BenchRow{
                            name, "GMAC/s", "CPFloat (published)", best_simd_, op->macs() / best.ours * 1e-9,
                            0.5,  150.0};
                      }});
  }

  // The scalar golden model on a smaller problem: what the vectors are worth.
  void add_scalar_model() {
    const std::string name = "gemm e5m2, fp32 rne plain";
    tasks_.push_back({name, [=, this, op = e5m2_] {
                        const int small = std::min(settings_.size, 64);
                        const Operands part(small, formats::e5m2, settings_.seed);
                        std::vector<float> c(part.c.size());
                        const Best best = best_of(
                            std::min(settings_.repeat, 3), [&] { kernels::gemm(op->gemm, {}, op->c); },
                            [&] { gemm(part.gemm, {}, c); });
                        return BenchRow{name,
                                        "GMAC/s",
                                        "scalar model",
                                        best_simd_,
                                        op->macs() / best.ours * 1e-9,
                                        part.macs() / best.peer * 1e-9,
                                        std::nullopt};
                      }});
  }

  void add_tensor(const std::string& name, const std::string& simd, double target,
                  const std::function<void()>& work) {
    tasks_.push_back(
        {name, [=, this] {
           const ForcedTarget forced(simd);
           const Best best = best_of(settings_.repeat, work, [&] {
             std::memcpy(copy_->data(), values_->data(), values_->size() * sizeof(float));
           });
           const auto count = static_cast<double>(settings_.elements);
           return BenchRow{
               name,          "Gelem/s", "memcpy", simd, count / best.ours * 1e-9, count / best.peer * 1e-9,
               wanted(target)};
         }});
  }

  std::function<void()> quantizer(Rounding rounding) {
    auto codes = codes_;
    codes->resize(settings_.elements);
    return [=, values = values_] {
      kernels::quantize<std::uint8_t>(*values, {.to = formats::e5m2, .rounding = rounding}, draws, *codes);
    };
  }
  std::function<void()> dequantizer() {
    return [codes = codes_, out = copy_] { kernels::dequantize(*codes, {.to = formats::e5m2}, *out); };
  }
  std::function<void()> lfsr() {
    auto stream = std::make_shared<kernels::DrawStream>(draws, 0, draws.lanes);
    auto words = std::make_shared<std::vector<std::uint32_t>>(settings_.elements);
    return [=] { stream->fill(*words); };
  }
  std::function<void()> pruner() {
    return [values = values_, out = copy_] {
      kernels::prune(*values, {.format = formats::fp32, .tau = fp32_bits(1.0F), .random_bits = 16}, draws,
                     *out);
    };
  }

  BenchSettings settings_;
  const OpenBlas& blas_;
  std::shared_ptr<Operands> e5m2_, e4m3_;
  std::shared_ptr<std::vector<float>> values_, copy_;
  std::shared_ptr<std::vector<std::uint8_t>> codes_ = std::make_shared<std::vector<std::uint8_t>>();
  std::string best_simd_;
  std::vector<BenchTask> tasks_;
};

}  // namespace

void run_bench(const BenchSettings& settings, const OpenBlas& blas, const BenchListener& listener) {
  Tasks rows(settings, blas);
  const std::vector<BenchTask> tasks = rows.all();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    listener.starting(i, tasks.size(), tasks[i].name);
    listener.measured(tasks[i].measure());
  }
}

}  // namespace mantissa::bench
