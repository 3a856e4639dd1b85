#include "sim/workers/gradient_exchange.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/mac/arithmetic.hpp"
#include "sim/workers/packet.hpp"
#include "sim/workers/shard.hpp"

namespace mantissa::workers {

GradientExchange::GradientExchange(Group& group, std::vector<TensorSite> tensors,
                                   std::optional<CompressionRule> compression,
                                   std::optional<double> clip_norm)
    : group_(group),
      tensors_(std::move(tensors)),
      compression_(std::move(compression)),
      clip_norm_(clip_norm) {
  if (!compression_) return;
  const SentVelocity sent = compression_->factor_masking ? SentVelocity::cleared : SentVelocity::kept;
  for (int worker = 0; worker < group_.here(); ++worker) {
    std::vector<GradientCompressor>& each = unsent_.emplace_back();
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      each.emplace_back(compresses(tensor) ? tensors_[tensor].elements : 0,
                        static_cast<float>(compression_->momentum), MomentumKind::heavy_ball, sent);
    }
  }
}

void GradientExchange::sum(const ExchangeStep& step, std::span<const std::vector<std::span<float>>> gradients,
                           std::span<const std::span<const float>> weights,
                           std::span<const std::span<float>> sum) {
  std::vector<Bytes> own;
  own.reserve(group_.here());
  for (int here = 0; here < group_.here(); ++here)
    own.push_back(packet(step, here, gradients[here], weights));
  const std::vector<Bytes> all = group_.all_gather(std::move(own));
  for (int worker = 0; worker < group_.size(); ++worker) add(worker, all[worker], sum);
  if (!compression_ && clip_norm_) clip_to_norm(sum, static_cast<float>(*clip_norm_));
  counts_.steps += 1;
}

Bytes GradientExchange::packet(const ExchangeStep& step, int here,
                               const std::vector<std::span<float>>& gradients,
                               std::span<const std::span<const float>> weights) {
  const int workers = group_.size();
  for (const std::span<float> gradient : gradients) take_share(gradient, step.loss_exponent, workers);
  if (compression_ && clip_norm_)
    clip_to_norm(gradients, local_clipping_limit(static_cast<float>(*clip_norm_), workers));
  const std::uint64_t seed = worker_seed(step.run_seed, group_.first() + here);
  PacketWriter packet;
  for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    const std::span<float> gradient = gradients[tensor];
    if (!compresses(tensor)) {
      packet.floats(gradient);
      continue;
    }
    if (tensors_[tensor].decayed) add_decay_share(gradient, weights[tensor], step.weight_decay, workers);
    const TopShare share{.keep = compression_->keep(step.epoch),
                         .sample = compression_->sample,
                         .random_start = sample_start(seed, tensor, step.number)};
    packet.block(unsent_[here][tensor].compress(gradient, share));
  }
  return packet.take();
}

void GradientExchange::add(int worker, const Bytes& packet, std::span<const std::span<float>> sum) {
  std::string where;
  try {
    PacketReader reader(packet);
    std::vector<float> values;
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      const std::uint64_t elements = tensors_[tensor].elements;
      where = ", tensor " + tensors_[tensor].name;
      if (compresses(tensor)) {
        if (worker == 0) std::fill(sum[tensor].begin(), sum[tensor].end(), 0.0F);
        const std::span<const std::uint8_t> message = reader.block();
        add_message(message, sum[tensor]);
        counts_.matrices.add_compressed(elements, length_bytes + message.size());
        continue;
      }
      values.resize(elements);
      reader.floats(values);
      for (std::size_t i = 0; i < values.size(); ++i)
        sum[tensor][i] = worker == 0 ? values[i] : f32::add(sum[tensor][i], values[i]);
      (tensors_[tensor].matrix ? counts_.matrices : counts_.vectors).add_dense(elements);
    }
    where.clear();
    reader.finish();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("the gradient that worker " + std::to_string(worker) + " sent" + where +
                                " cannot be read: " + error.what());
  }
  counts_.control += length_bytes;
}

}  // namespace mantissa::workers
