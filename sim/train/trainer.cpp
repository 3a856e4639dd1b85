#include "sim/train/trainer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>

namespace mantissa::train {
namespace {

// Between two refreshes of scales that are carried over, where no pruning rule says how many.
constexpr std::int64_t refresh_interval = 100;

// Gradients shrink fastest at the start: before the first interval is over, refreshes are 1, 2, 4 .. steps
// apart.
bool refreshes(const Recipe& recipe, std::int64_t step) {
  const std::int64_t interval = recipe.pruning ? recipe.pruning->refresh_steps : refresh_interval;
  return step % interval == 0 || (step < interval && std::has_single_bit(static_cast<std::uint64_t>(step)));
}

void check_data(const Network& network, const FashionMnist& data, const RunOptions& options) {
  const ValueShape& image = network.image;
  const Images& training = data.training;
  if (image.channels != 1 || image.height != training.height || image.width != training.width) {
    throw std::invalid_argument(
        fmt::format("network {} reads images of {} x {} x {}, the data set has 1 x {} x {}", network.name,
                    image.channels, image.height, image.width, training.height, training.width));
  }
  if (network.classes() != FashionMnist::classes) {
    throw std::invalid_argument(fmt::format("network {} has {} outputs; the data set has {} classes",
                                            network.name, network.classes(), FashionMnist::classes));
  }
  if (options.images > training.count()) {
    throw std::invalid_argument(
        fmt::format("--images {}: the data set has {}", options.images, training.count()));
  }
}

// One worker alone may have less than a batch.
void check_shards(std::int64_t images, std::int64_t batch, int workers) {
  if (workers == 1 || images >= workers * batch) return;
  throw std::invalid_argument(
      fmt::format("{} images are less than a batch of {} for each of {} workers; choose at least {} images, "
                  "a smaller --batch or fewer workers",
                  images, batch, workers, workers * batch));
}

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

Trainer::Trainer(Model& model, const FashionMnist& data, const RunOptions& options, Recorder* recorder,
                 workers::Group* group)
    : model_(model),
      data_(data),
      options_(options),
      group_(group != nullptr ? *group : alone_),
      images_(options.images == 0 ? data.training.count() : options.images),
      shards_(images_, options.batch, group_.size()) {
  options_.workers = group_.size();
  check_data(model.network(), data, options);
  check_shards(images_, options.batch, group_.size());
  check_channels(model.network(), shards_.last_batch());
  schedule_ = {.peak = options.training.learning_rate, .steps = total_steps()};
  const Recipe& recipe = model.recipe();
  if (recipe.loss_scale.kind == LossScaleRule::Kind::dynamic) loss_scale_.emplace(recipe.loss_scale.dynamic);
  make_workers(recorder);
  if (group_.size() > 1 || recipe.compression || recipe.clip_norm) make_exchange();
}

void Trainer::make_workers(Recorder* recorder) {
  // Worker 0 is recorded.
  workers_.emplace_back(group_.first(), model_, data_, group_.leads() ? recorder : nullptr);
  for (int here = 1; here < group_.here(); ++here) {
    replicas_.push_back(std::make_unique<Model>(model_.network(), model_.recipe(), options_.seed));
    workers_.emplace_back(group_.first() + here, *replicas_.back(), data_);
  }
}

void Trainer::make_exchange() {
  std::vector<workers::TensorSite> tensors;
  for (const Parameter& parameter : model_.parameters()) {
    tensors.push_back({.name = parameter.name,
                       .elements = parameter.value.values.size(),
                       .matrix = parameter.shape.size() > 1,
                       .decayed = parameter.master});
  }
  exchange_.emplace(group_, std::move(tensors), model_.recipe().compression, model_.recipe().clip_norm);
  for (std::size_t i = 0; i < model_.parameters().size(); ++i)
    model_.parameters()[i].corrected = exchange_->compresses(i);
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

void Trainer::follow_loss_scale(bool skipped) {
  if (!loss_scale_) return;
  const int before = loss_scale_->exponent();
  if (state_.loss_scale.empty()) state_.loss_scale.emplace_back(0, before);
  loss_scale_->update(skipped);
  const int change = loss_scale_->exponent() - before;
  if (change == 0) return;
  state_.loss_scale.emplace_back(state_.step + 1, loss_scale_->exponent());
  for (Worker& worker : workers_) {
    for (GemmLayer* layer : worker.model().gemm_layers()) layer->plan().registers.follow_loss_scale(change);
    for (NormLayer* layer : worker.model().norm_layers()) layer->plan().registers.follow_loss_scale(change);
  }
}

void Trainer::train_step() {
  const std::int64_t steps = shards_.steps();
  const std::int64_t epoch = state_.step / steps;
  if (order_epoch_ != epoch) {
    order_ = shuffled(images_, options_.seed, epoch);
    order_epoch_ = epoch;
  }
  const Step step = step_info(true);
  int exponent = 0;
  const Recipe& recipe = model_.recipe();
  if (recipe.loss_scale.kind == LossScaleRule::Kind::constant) exponent = recipe.loss_scale.exponent;
  if (loss_scale_) exponent = loss_scale_->exponent();
  const bool last = state_.step + 1 == total_steps();
  std::vector<workers::Bytes> own;
  for (Worker& worker : workers_) {
    const workers::Slice slice = shards_.slice(state_.step % steps, worker.index());
    const bool describe = last && &worker == workers_.data();
    own.push_back(worker
                      .train(step, std::span(order_).subspan(slice.first, slice.count), exponent,
                             describe ? &state_.gradients : nullptr)
                      .packet());
  }
  const WorkerNews news = all_news(std::move(own), "step " + std::to_string(state_.step));
  const bool updated = news.finite && apply_gradients(step, exponent);
  // Thresholds of this step's gradients first: a new loss scale moves them, too.
  for (Worker& worker : workers_) worker.refresh(step, updated);
  follow_loss_scale(!updated);
  state_.epoch.train_loss += news.loss;
  state_.epoch.train_accuracy += static_cast<double>(news.correct);
  state_.epoch.steps += 1;
  state_.epoch.skipped_steps += updated ? 0 : 1;
  state_.epoch.loss_exponent = loss_scale_ ? loss_scale_->exponent() : exponent;
  state_.counted_steps += step.count ? 1 : 0;
  state_.step += 1;
}

// The gradients of all workers become one, and one step.
bool Trainer::apply_gradients(const Step& step, int loss_exponent) {
  std::vector<Parameter>& parameters = model_.parameters();
  const auto weight_decay = static_cast<float>(options_.training.weight_decay);
  if (exchange_) {
    std::vector<std::vector<std::span<float>>> gradients;
    for (Worker& worker : workers_) {
      std::vector<std::span<float>>& own = gradients.emplace_back();
      for (Parameter& parameter : worker.model().parameters()) own.emplace_back(parameter.gradient);
    }
    std::vector<std::span<const float>> weights;
    weights.reserve(parameters.size());
    for (const Parameter& parameter : parameters) weights.emplace_back(parameter.value.values);
    exchange_->sum({.run_seed = options_.seed,
                    .number = state_.step,
                    .epoch = state_.step / shards_.steps(),
                    .loss_exponent = loss_exponent,
                    .weight_decay = weight_decay},
                   gradients, weights, gradients.front());
    loss_exponent = 0;
  }
  const bool updated = update(parameters,
                              {.learning_rate = schedule_.at(state_.step),
                               .momentum = static_cast<float>(options_.training.momentum),
                               .weight_decay = weight_decay,
                               .loss_exponent = loss_exponent,
                               .master = model_.recipe().master_weights},
                              step);
  share_parameters();
  return updated;
}

void Trainer::share_parameters() {
  const std::vector<Parameter>& from = model_.parameters();
  for (const std::unique_ptr<Model>& replica : replicas_) {
    for (std::size_t i = 0; i < from.size(); ++i) replica->parameters()[i].value = from[i].value;
  }
}

void Trainer::finish_epoch() {
  EpochReport& epoch = state_.epoch;
  epoch.train_loss /= static_cast<double>(shards_.images());
  epoch.train_accuracy /= static_cast<double>(shards_.images());
  for (Worker& worker : workers_) {
    for (GemmLayer* layer : worker.model().gemm_layers()) {
      LayerCounts& counts = layer->counts();
      const auto elements = static_cast<double>(counts.pruned.elements());
      if (elements == 0) continue;
      if (&worker == workers_.data()) {
        epoch.sparsity.push_back(static_cast<double>(counts.pruned.zeros()) / elements);
        epoch.target_sparsity.push_back(counts.aimed_at / elements);
      }
      counts.pruned = {};
      counts.aimed_at = 0;
    }
  }
  average_statistics();
  validate();
  state_.history.push_back(epoch);
  epoch = {};
}

TrainReport Trainer::run(const Progress& progress, const EpochDone& epoch_done) {
  using Clock = std::chrono::steady_clock;
  while (state_.step < total_steps()) {
    const std::int64_t epoch = state_.step / shards_.steps() + 1;
    if (progress) progress(state_.step, total_steps(), fmt::format("epoch {} of {}", epoch, options_.epochs));
    const auto start = Clock::now();
    train_step();
    state_.epoch.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    const bool epoch_ends = state_.step % shards_.steps() == 0;
    if (epoch_ends) {
      finish_epoch();
      if (epoch_done) epoch_done(report());
    }
    if (!options_.checkpoint.empty() && (epoch_ends || state_.step % options_.checkpoint_steps == 0)) save();
  }
  return report();
}

}  // namespace mantissa::train
