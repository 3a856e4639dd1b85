#include "sim/train/trainer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "sim/support/sha256.hpp"
#include "sim/trace/gradient.hpp"
#include "sim/train/checkpoint.hpp"
#include "sim/train/softmax.hpp"

namespace mantissa::train {
namespace {

constexpr std::int64_t validation_batch = 500;
// Between two refreshes of scales that are carried over, where no pruning rule says how many.
constexpr std::int64_t refresh_interval = 100;

// Gradients shrink fastest at the start: before the first interval is over, refreshes are 1, 2, 4 .. steps
// apart.
bool refreshes(const Recipe& recipe, std::int64_t step) {
  const std::int64_t interval = recipe.pruning ? recipe.pruning->refresh_steps : refresh_interval;
  return step % interval == 0 || (step < interval && std::has_single_bit(static_cast<std::uint64_t>(step)));
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// A batch norm needs two elements per channel in the smallest batch, an epoch's last.
void check_channels(const Network& network, std::int64_t batch) {
  for (const Node& node : network.nodes) {
    if (node.kind != NodeKind::norm || batch * node.in_shape.spatial() >= 2) continue;
    throw std::invalid_argument("layer " + node.name +
                                " cannot normalise the last batch of an epoch, one image of " +
                                "one element per channel; choose other --images or --batch");
  }
}

}  // namespace

std::vector<std::int32_t> shuffled(std::int64_t images, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int32_t> order(images);
  std::iota(order.begin(), order.end(), 0);
  const std::uint64_t stream =
      mix(mix(seed) ^ (std::uint64_t{0x5348} << 32 | static_cast<std::uint64_t>(epoch)));
  // Fisher and Yates, from the back.
  for (std::int64_t i = images - 1; i > 0; --i) {
    const std::uint64_t word = mix(stream ^ static_cast<std::uint64_t>(i));
    const auto j = static_cast<std::int64_t>(
        (static_cast<unsigned __int128>(word) * static_cast<unsigned __int128>(i + 1)) >> 64);
    std::swap(order[i], order[j]);
  }
  return order;
}

Trainer::Trainer(Model& model, const FashionMnist& data, const RunOptions& options, Recorder* recorder)
    : model_(model), data_(data), options_(options), recorder_(recorder) {
  const ValueShape& image = model.network().image;
  const Images& training = data.training;
  if (image.channels != 1 || image.height != training.height || image.width != training.width) {
    throw std::invalid_argument(fmt::format(
        "network {} reads images of {} x {} x {}, the data set has 1 x {} x {}", model.network().name,
        image.channels, image.height, image.width, training.height, training.width));
  }
  if (model.network().classes() != FashionMnist::classes) {
    throw std::invalid_argument(fmt::format("network {} has {} outputs; the data set has {} classes",
                                            model.network().name, model.network().classes(),
                                            FashionMnist::classes));
  }
  if (options.images > training.count()) {
    throw std::invalid_argument(
        fmt::format("--images {}: the data set has {}", options.images, training.count()));
  }
  images_ = options.images == 0 ? training.count() : options.images;
  steps_per_epoch_ = ceil_div(images_, options.batch);
  check_channels(model.network(), images_ - (steps_per_epoch_ - 1) * options.batch);
  schedule_ = {.peak = options.training.learning_rate, .steps = total_steps()};
  const Recipe& recipe = model.recipe();
  if (recipe.loss_scale.kind == LossScaleRule::Kind::dynamic) loss_scale_.emplace(recipe.loss_scale.dynamic);
  if (recipe.pruning) pruning_.emplace(*recipe.pruning);
}

Step Trainer::step_info(bool training) const {
  return {.seed = options_.seed,
          .number = static_cast<std::uint32_t>(state_.step),
          .rows = options_.rows,
          .cols = options_.cols,
          .threads = options_.threads,
          .training = training,
          .count = training && state_.step % count_interval == 0,
          .refresh = training && refreshes(model_.recipe(), state_.step)};
}

void Trainer::load_batch(const Images& images, std::span<const std::int32_t> order) {
  const std::span<const float, 256> table = normalised_pixels();
  Tensor& batch = model_.image();
  batch.values.clear();
  labels_.clear();
  for (const std::int32_t index : order) {
    for (const std::uint8_t pixel : images.image(index)) batch.values.push_back(table[pixel]);
    labels_.push_back(images.labels[index]);
  }
}

Watcher Trainer::watcher_of(const Step& step) {
  const bool records = recorder_ != nullptr && recorder_->wants(step.number);
  const bool looks = pruning_ && step.refresh;
  const bool last = state_.step + 1 == total_steps();
  if (!records && !looks && !last) return {};
  return [=, this](const Node& node, Role role, std::span<const float> values) {
    if (records) recorder_->take(step.number, node, role, values);
    GemmLayer* gemm = role == Role::grad_output ? model_.gemm_at(node) : nullptr;
    if (gemm == nullptr) return;
    if (looks && gemm->plan().prunes()) pruning_->look(gemm->plan(), values, &gemm->counts().recent);
    if (last) {
      GradientReport report = trace::describe_gradient(values);
      report.step = step.number;
      report.layer = node.name;
      report.tau = gemm->plan().registers.tau.value_or(0);
      report.histogram.clear();  // no part of the report
      state_.gradients.insert(state_.gradients.begin(), std::move(report));
    }
  };
}

void Trainer::follow_loss_scale(bool skipped) {
  if (!loss_scale_) return;
  const int before = loss_scale_->exponent();
  if (state_.loss_scale.empty()) state_.loss_scale.emplace_back(0, before);
  loss_scale_->update(skipped);
  const int change = loss_scale_->exponent() - before;
  if (change == 0) return;
  state_.loss_scale.emplace_back(state_.step + 1, loss_scale_->exponent());
  for (GemmLayer* layer : model_.gemm_layers()) layer->plan().registers.follow_loss_scale(change);
  for (NormLayer* layer : model_.norm_layers()) layer->plan().registers.follow_loss_scale(change);
}

void Trainer::check_finite(double loss, const std::string& whose) const {
  if (std::isfinite(loss)) return;
  throw Diverged("loss is not finite at " + whose + "; first Inf or NaN in " +
                 model_.first_nonfinite().value_or("the loss itself"));
}

void Trainer::train_step() {
  const std::int64_t epoch = state_.step / steps_per_epoch_;
  if (order_epoch_ != epoch) {
    order_ = shuffled(images_, options_.seed, epoch);
    order_epoch_ = epoch;
  }
  const std::int64_t first = state_.step % steps_per_epoch_ * options_.batch;
  const std::int64_t count = std::min(options_.batch, images_ - first);
  load_batch(data_.training, std::span(order_).subspan(first, count));

  const Recipe& recipe = model_.recipe();
  const Step step = step_info(true);
  int exponent = 0;
  if (recipe.loss_scale.kind == LossScaleRule::Kind::constant) exponent = recipe.loss_scale.exponent;
  if (loss_scale_) exponent = loss_scale_->exponent();
  const Watcher watcher = watcher_of(step);
  const std::span<const float> scores = model_.forward(step, watcher);
  score_gradient_.resize(scores.size());
  const BatchLoss loss = softmax_cross_entropy(scores, labels_, std::ldexp(1.0, exponent), score_gradient_);
  check_finite(loss.loss, "step " + std::to_string(state_.step));
  model_.backward(step, score_gradient_, watcher);
  if (recorder_ != nullptr && recorder_->wants(step.number)) recorder_->end(step.number, exponent, model_);
  const bool updated = update(model_.parameters(),
                              {.learning_rate = schedule_.at(state_.step),
                               .momentum = static_cast<float>(options_.training.momentum),
                               .weight_decay = static_cast<float>(options_.training.weight_decay),
                               .loss_exponent = exponent,
                               .master = recipe.master_weights},
                              step);
  // Thresholds of this step's gradients first: a new loss scale moves them, too.
  if (pruning_ && step.refresh) updated ? pruning_->refresh() : pruning_->forget();
  follow_loss_scale(!updated);
  state_.epoch.train_loss += loss.loss;
  state_.epoch.train_accuracy += static_cast<double>(loss.correct);
  state_.epoch.steps += 1;
  state_.epoch.skipped_steps += updated ? 0 : 1;
  state_.epoch.loss_exponent = loss_scale_ ? loss_scale_->exponent() : exponent;
  state_.counted_steps += step.count ? 1 : 0;
  state_.step += 1;
}

void Trainer::validate() {
  const Images& images = data_.validation;
  std::vector<std::int32_t> order(images.count());
  std::iota(order.begin(), order.end(), 0);
  BatchLoss sum;
  for (std::int64_t first = 0; first < images.count(); first += validation_batch) {
    load_batch(images, std::span(order).subspan(first, std::min(validation_batch, images.count() - first)));
    const BatchLoss loss = softmax_cross_entropy(model_.forward(step_info(false)), labels_, 1, {});
    sum.loss += loss.loss;
    sum.correct += loss.correct;
    check_finite(loss.loss, "the validation after step " + std::to_string(state_.step - 1));
  }
  state_.epoch.val_loss = sum.loss / static_cast<double>(images.count());
  state_.epoch.val_accuracy = static_cast<double>(sum.correct) / static_cast<double>(images.count());
}

void Trainer::finish_epoch() {
  EpochReport& epoch = state_.epoch;
  epoch.train_loss /= static_cast<double>(images_);
  epoch.train_accuracy /= static_cast<double>(images_);
  for (GemmLayer* layer : model_.gemm_layers()) {
    LayerCounts& counts = layer->counts();
    const auto elements = static_cast<double>(counts.pruned.elements());
    if (elements == 0) continue;
    epoch.sparsity.push_back(static_cast<double>(counts.pruned.zeros()) / elements);
    epoch.target_sparsity.push_back(counts.aimed_at / elements);
    counts.pruned = {};
    counts.aimed_at = 0;
  }
  validate();
  state_.history.push_back(epoch);
  epoch = {};
}

TrainReport Trainer::run(const Progress& progress, const EpochDone& epoch_done) {
  using Clock = std::chrono::steady_clock;
  while (state_.step < total_steps()) {
    const std::int64_t epoch = state_.step / steps_per_epoch_ + 1;
    if (progress) progress(state_.step, total_steps(), fmt::format("epoch {} of {}", epoch, options_.epochs));
    const auto start = Clock::now();
    train_step();
    state_.epoch.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    const bool epoch_ends = state_.step % steps_per_epoch_ == 0;
    if (epoch_ends) {
      finish_epoch();
      if (epoch_done) epoch_done(report());
    }
    if (!options_.checkpoint.empty() && (epoch_ends || state_.step % options_.checkpoint_steps == 0)) save();
  }
  return report();
}

void Trainer::save() const { save_checkpoint(options_.checkpoint, model_, options_, state_, loss_scale_); }

void Trainer::resume() {
  const RunLength length{.images = images_,
                         .batch = options_.batch,
                         .steps_per_epoch = steps_per_epoch_,
                         .steps = total_steps()};
  load_checkpoint(trace::Safetensors(options_.checkpoint), length, model_, options_, state_, loss_scale_);
}

TrainReport Trainer::report() const {
  TrainReport report;
  const Recipe& recipe = model_.recipe();
  report.network = model_.network().name;
  report.recipe = recipe.name;
  report.rows = options_.rows;
  report.cols = options_.cols;
  report.seed = options_.seed;
  report.epochs = options_.epochs;
  report.batch = options_.batch;
  report.images = images_;
  report.learning_rate = options_.training.learning_rate;
  report.momentum = options_.training.momentum;
  report.weight_decay = options_.training.weight_decay;
  report.history = state_.history;
  report.loss_scale = state_.loss_scale;
  report.counted_steps = state_.counted_steps;
  report.gradients = state_.gradients;
  if (recipe.pruning) report.target_sparsity = recipe.pruning->sparsity;
  const auto add = [&](const std::string& layer, const char* tensors, const ConversionCounts& counts) {
    if (counts.elements > 0) report.conversions.push_back({layer, tensors, counts});
  };
  for (const GemmLayer* layer : std::as_const(model_).gemm_layers()) {
    const LayerCounts& counts = layer->counts();
    const std::string& name = layer->plan().name();
    if (layer->plan().prunes()) report.pruned_layers.push_back(name);
    add(name, "weights", counts.weights);
    add(name, "activations", counts.activations);
    add(name, "errors", counts.errors);
    add(name, "weight_gradients", counts.weight_gradients);
  }
  for (const NormLayer* layer : std::as_const(model_).norm_layers()) {
    add(layer->plan().name(), "activations", layer->counts().activations);
    add(layer->plan().name(), "errors", layer->counts().errors);
  }
  std::string bytes;
  for (const Parameter& parameter : model_.parameters()) {
    report.parameters += static_cast<std::int64_t>(parameter.value.values.size());
    bytes.append(reinterpret_cast<const char*>(parameter.value.values.data()),
                 parameter.value.values.size() * sizeof(float));
  }
  report.weights_digest = sha256(bytes);
  return report;
}

}  // namespace mantissa::train
