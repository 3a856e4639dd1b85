// What the workers of a run do together besides the exchange of gradients: losses, statistics, checkpoints.
#include <cmath>
#include <stdexcept>

#include "models/mac/arithmetic.hpp"
#include "sim/train/checkpoint.hpp"
#include "sim/train/trainer.hpp"
#include "sim/train/worker_state.hpp"
#include "sim/workers/packet.hpp"

namespace mantissa::train {

std::vector<workers::Bytes> Trainer::tell_all(std::vector<workers::Bytes> own) {
  if (!exchange_) return own;
  std::vector<workers::Bytes> all = group_.all_gather(std::move(own));
  for (const workers::Bytes& packet : all)
    exchange_->counts().control += workers::length_bytes + packet.size();
  return all;
}

// Of all workers, or of worker 0 where the others' packets are empty.
WorkerNews Trainer::all_news(std::vector<workers::Bytes> own, const std::string& place) {
  const std::vector<workers::Bytes> all = tell_all(std::move(own));
  WorkerNews sum;
  for (int worker = 0; worker < static_cast<int>(all.size()); ++worker) {
    if (worker > 0 && all[worker].empty()) continue;
    const WorkerNews news = WorkerNews::read(worker, all[worker]);
    if (!std::isfinite(news.loss)) {
      throw Diverged((all.size() > 1 ? "worker " + std::to_string(worker) + ": " : "") +
                     "loss is not finite at " + place + "; first Inf or NaN in " + news.problem);
    }
    sum.loss += news.loss;
    sum.correct += news.correct;
    sum.finite = sum.finite && news.finite;
  }
  return sum;
}

// Every worker goes on with the mean of all.
void Trainer::average_statistics() {
  if (group_.size() == 1 || model_.norm_layers().empty()) return;
  std::vector<workers::Bytes> own;
  for (Worker& worker : workers_) {
    workers::PacketWriter packet;
    for (const NormLayer* norm : worker.model().norm_layers())
      packet.floats(norm->running().mean).floats(norm->running().scale);
    own.push_back(packet.take());
  }
  const std::vector<workers::Bytes> all = tell_all(std::move(own));
  std::vector<workers::PacketReader> readers(all.begin(), all.end());
  const auto average = [&](std::vector<float>& values) {
    std::vector<float> sum(values.size());
    readers.front().floats(sum);
    std::vector<float> next(values.size());
    for (std::size_t worker = 1; worker < readers.size(); ++worker) {
      readers[worker].floats(next);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = f32::add(sum[i], next[i]);
    }
    for (std::size_t i = 0; i < sum.size(); ++i)
      values[i] = f32::div(sum[i], static_cast<float>(readers.size()));
  };
  for (NormLayer* norm : model_.norm_layers()) {
    average(norm->running().mean);
    average(norm->running().scale);
  }
  for (const std::unique_ptr<Model>& replica : replicas_) {
    for (std::size_t i = 0; i < replica->norm_layers().size(); ++i)
      replica->norm_layers()[i]->running() = model_.norm_layers()[i]->running();
  }
}

// Worker 0 validates for all.
void Trainer::validate() {
  std::vector<workers::Bytes> own(workers_.size());
  if (group_.leads()) own.front() = workers_.front().validate(step_info(false)).packet();
  const WorkerNews news =
      all_news(std::move(own), "the validation after step " + std::to_string(state_.step - 1));
  const auto images = static_cast<double>(data_.validation.count());
  state_.epoch.val_loss = news.loss / images;
  state_.epoch.val_accuracy = static_cast<double>(news.correct) / images;
}

void Trainer::save() {
  Attachment attachment;
  if (exchange_) {
    std::vector<workers::Bytes> own;
    for (std::size_t here = 0; here < workers_.size(); ++here)
      own.push_back(pack_worker(workers_[here], static_cast<int>(here), *exchange_));
    const std::vector<workers::Bytes> all = group_.all_gather(std::move(own));
    if (!group_.leads()) return;
    attachment = attach_workers(all, model_, *exchange_);
  }
  save_checkpoint(options_.checkpoint, model_, options_, state_, loss_scale_, attachment);
}

void Trainer::resume() {
  const RunLength length{.images = shards_.images(),
                         .batch = options_.batch * group_.size(),
                         .steps_per_epoch = shards_.steps(),
                         .steps = total_steps()};
  Attachment attachment;
  if (exchange_) attachment = expected_workers(workers_, group_.size(), total_steps(), *exchange_);
  load_checkpoint(trace::Safetensors(options_.checkpoint), length, model_, options_, state_, loss_scale_,
                  attachment);
  share_parameters();
}

}  // namespace mantissa::train
