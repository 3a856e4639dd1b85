#include "sim/bench/bench_layers.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "models/kernels/conv.hpp"
#include "models/kernels/gemm_float.hpp"
#include "models/kernels/targets.hpp"

namespace mantissa::bench {
namespace {

struct LayerCase {
  std::int64_t channels;
  std::int64_t size;
};
constexpr LayerCase layers[] = {{8, 28}, {16, 14}, {32, 7}};

// 3 x 3, as many channels out as in, size kept.
ConvShape shape_of(const LayerCase& layer, std::int64_t batch) {
  ConvShape shape{.batch = batch,
                  .in_channels = layer.channels,
                  .out_channels = layer.channels,
                  .in = {layer.size, layer.size},
                  .kernel = {3, 3},
                  .padding = {1, 1}};
  shape.out = shape.fitting_out();
  return shape;
}

// A layer's tensors, and matrices of the sizes that it is lowered to.
struct LayerData {
  ConvShape shape;
  int places, taps, channels;  // the forward pass is [places, taps] x [taps, channels]
  std::vector<float> x, w, g;
  std::vector<float> lowered, result;

  LayerData(const ConvShape& the_shape, std::uint64_t seed)
      : shape(the_shape),
        places(static_cast<int>(shape.batch * shape.out[0] * shape.out[1])),
        taps(static_cast<int>(shape.in_channels * shape.kernel[0] * shape.kernel[1])),
        channels(static_cast<int>(shape.out_channels)),
        x(normal_values(shape.inputs(), seed)),
        w(normal_values(shape.weights(), seed + 1)),
        g(normal_values(shape.outputs(), seed + 2)),
        lowered(static_cast<std::size_t>(places) * taps),
        // Of all passes; input and output have the same size here.
        result(std::max(shape.outputs(), shape.weights())) {
    for (std::size_t i = 0; i < lowered.size(); ++i) lowered[i] = x[i % x.size()];
  }
  double macs() const { return static_cast<double>(places) * taps * channels; }
  std::span<float> outputs() { return std::span(result).first(shape.outputs()); }
  std::span<float> weights() { return std::span(result).first(shape.weights()); }
};

class LayerTasks {
 public:
  LayerTasks(const BenchSettings& settings, const OpenBlas& blas) : settings_(settings), blas_(blas) {}

  std::vector<BenchTask> all() {
    for (const LayerCase& layer : layers) {
      const auto data = std::make_shared<LayerData>(shape_of(layer, settings_.batch), settings_.seed);
      add_gemm(data);
      add_passes(data);
    }
    return std::move(tasks_);
  }

 private:
  using Work = std::function<void(LayerData&)>;

  void add(const std::string& name, const std::shared_ptr<LayerData>& data, std::optional<double> target,
           const Work& ours, const Work& peer) {
    tasks_.push_back({name, [=, repeat = settings_.repeat] {
                        const Best best = best_of(
                            repeat, [&] { ours(*data); }, [&] { peer(*data); });
                        return BenchRow{name,
                                        "GMAC/s",
                                        "sgemm",
                                        kernels::targets().front(),
                                        data->macs() / best.ours * 1e-9,
                                        data->macs() / best.peer * 1e-9,
                                        target};
                      }});
  }

  void add_gemm(const std::shared_ptr<LayerData>& data) {
    const std::string name = "gemm fp32 " + std::to_string(data->places) + " x " +
                             std::to_string(data->channels) + " x " + std::to_string(data->taps);
    add(
        name, data, 0.8,
        [](LayerData& d) {
          kernels::gemm_float({d.places, d.channels, d.taps, d.lowered, d.w}, d.outputs());
        },
        forward_peer());
  }

  void add_passes(const std::shared_ptr<LayerData>& data) {
    const std::string layer = "conv 3 x 3, " + std::to_string(data->channels) + " channels of " +
                              std::to_string(data->shape.in[0]) + ", ";
    add(
        layer + "y", data, std::nullopt,
        [](LayerData& d) { kernels::conv_forward(d.shape, d.x, d.w, d.outputs()); }, forward_peer());
    add(
        layer + "dx", data, std::nullopt,
        [](LayerData& d) { kernels::conv_input_gradient(d.shape, d.g, d.w, d.outputs()); }, forward_peer());
    add(
        layer + "dw", data, std::nullopt,
        [](LayerData& d) { kernels::conv_weight_gradient(d.shape, d.g, d.x, d.weights()); },
        [&blas = blas_](LayerData& d) {
          blas.sgemm(d.channels, d.taps, d.places, d.g.data(), d.lowered.data(), d.result.data());
        });
  }

  Work forward_peer() const {
    return [&blas = blas_](LayerData& d) {
      blas.sgemm(d.places, d.channels, d.taps, d.lowered.data(), d.w.data(), d.result.data());
    };
  }

  BenchSettings settings_;
  const OpenBlas& blas_;
  std::vector<BenchTask> tasks_;
};

}  // namespace

std::vector<BenchTask> layer_tasks(const BenchSettings& settings, const OpenBlas& blas) {
  return LayerTasks(settings, blas).all();
}

}  // namespace mantissa::bench
