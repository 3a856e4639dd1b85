#include "sim/train/worker.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "sim/trace/gradient.hpp"
#include "sim/train/softmax.hpp"
#include "sim/workers/packet.hpp"
#include "sim/workers/shard.hpp"

namespace mantissa::train {
namespace {

constexpr std::int64_t validation_batch = 500;

}  // namespace

workers::Bytes WorkerNews::packet() const {
  workers::PacketWriter packet;
  packet.f64(loss).u64(static_cast<std::uint64_t>(correct)).u32(finite ? 1 : 0).text(problem);
  return packet.take();
}

WorkerNews WorkerNews::read(int worker, const workers::Bytes& packet) {
  try {
    workers::PacketReader reader(packet);
    WorkerNews news;
    news.loss = reader.f64();
    news.correct = static_cast<std::int64_t>(reader.u64());
    news.finite = reader.u32() != 0;
    news.problem = reader.text();
    reader.finish();
    return news;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("the loss that worker " + std::to_string(worker) +
                                " sent cannot be read: " + error.what());
  }
}

Worker::Worker(int index, Model& model, const FashionMnist& data, Recorder* recorder)
    : index_(index), model_(&model), data_(&data), recorder_(recorder) {
  if (model.recipe().pruning) pruning_.emplace(*model.recipe().pruning);
}

void Worker::load_batch(const Images& images, std::span<const std::int32_t> order) {
  const std::span<const float, 256> table = normalised_pixels();
  Tensor& batch = model_->image();
  batch.values.clear();
  labels_.clear();
  for (const std::int32_t index : order) {
    for (const std::uint8_t pixel : images.image(index)) batch.values.push_back(table[pixel]);
    labels_.push_back(images.labels[index]);
  }
}

Watcher Worker::watcher_of(const Step& step, std::vector<GradientReport>* describe) {
  const bool records = recorder_ != nullptr && recorder_->wants(step.number);
  const bool looks = pruning_ && step.refresh;
  if (!records && !looks && describe == nullptr) return {};
  return [=, this](const Node& node, Role role, std::span<const float> values) {
    if (records) recorder_->take(step.number, node, role, values);
    GemmLayer* gemm = role == Role::grad_output ? model_->gemm_at(node) : nullptr;
    if (gemm == nullptr) return;
    if (looks && gemm->plan().prunes()) pruning_->look(gemm->plan(), values, &gemm->counts().recent);
    if (describe != nullptr) {
      GradientReport report = trace::describe_gradient(values);
      report.step = step.number;
      report.layer = node.name;
      report.tau = gemm->plan().registers.tau.value_or(0);
      report.histogram.clear();  // no part of the report
      describe->insert(describe->begin(), std::move(report));
    }
  };
}

WorkerNews Worker::train(Step step, std::span<const std::int32_t> images, int loss_exponent,
                         std::vector<GradientReport>* describe) {
  step.seed = workers::worker_seed(step.seed, index_);
  load_batch(data_->training, images);
  const Watcher watcher = watcher_of(step, describe);
  const std::span<const float> scores = model_->forward(step, watcher);
  score_gradient_.resize(scores.size());
  const BatchLoss loss =
      softmax_cross_entropy(scores, labels_, std::ldexp(1.0, loss_exponent), score_gradient_);
  WorkerNews news{.loss = loss.loss, .correct = loss.correct, .problem = {}};
  if (!std::isfinite(loss.loss)) {
    news.problem = model_->first_nonfinite().value_or("the loss itself");
    return news;
  }
  model_->backward(step, score_gradient_, watcher);
  if (recorder_ != nullptr && recorder_->wants(step.number))
    recorder_->end(step.number, loss_exponent, *model_);
  news.finite = finite(model_->parameters(), step);
  return news;
}

WorkerNews Worker::validate(const Step& step) {
  const Images& images = data_->validation;
  std::vector<std::int32_t> order(images.count());
  std::iota(order.begin(), order.end(), 0);
  WorkerNews news;
  for (std::int64_t first = 0; first < images.count(); first += validation_batch) {
    load_batch(images, std::span(order).subspan(first, std::min(validation_batch, images.count() - first)));
    const BatchLoss loss = softmax_cross_entropy(model_->forward(step), labels_, 1, {});
    news.loss += loss.loss;
    news.correct += loss.correct;
    if (std::isfinite(loss.loss)) continue;
    news.problem = model_->first_nonfinite().value_or("the loss itself");
    break;
  }
  return news;
}

void Worker::refresh(const Step& step, bool updated) {
  if (!pruning_ || !step.refresh) return;
  updated ? pruning_->refresh() : pruning_->forget();
}

}  // namespace mantissa::train
