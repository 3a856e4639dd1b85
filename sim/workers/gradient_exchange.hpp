// From the gradients of all workers to the one that the optimizer applies: added up as they are, or
// compressed before (Lin et al. 2018). ARITHMETIC.md 9, "Workers", defines every bit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/compress/gradient_compression.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/workers/group.hpp"

namespace mantissa::workers {

// A tensor of the gradient.
struct TensorSite {
  std::string name;
  std::size_t elements = 0;
  bool matrix = false;   // of two or more dimensions: what compression takes
  bool decayed = false;  // weight decay acts on it
};

struct ExchangeStep {
  std::uint64_t run_seed = 1;
  std::int64_t number = 0;
  std::int64_t epoch = 0;
  int loss_exponent = 0;  // gradients come multiplied by 2^this
  float weight_decay = 0;
};

// What all workers have sent to all, in bytes. Lengths belong to what they precede.
struct ExchangeCounts {
  std::int64_t steps = 0;
  ExchangeSize matrices;
  ExchangeSize vectors;
  std::uint64_t control = 0;  // losses, lengths of packets, statistics of batch norms

  std::uint64_t dense_bytes() const { return matrices.dense_bytes + vectors.dense_bytes; }
  std::uint64_t sent_bytes() const { return matrices.sent_bytes + vectors.sent_bytes + control; }
};

// The length of a packet goes before it.
inline constexpr std::uint64_t length_bytes = 4;

class GradientExchange {
 public:
  // The group must outlive the exchange.
  GradientExchange(Group& group, std::vector<TensorSite> tensors, std::optional<CompressionRule> compression,
                   std::optional<double> clip_norm);

  bool compresses(std::size_t tensor) const { return compression_ && tensors_[tensor].matrix; }

  // All tensors' gradients of each worker in this process, which are used up, and the weights that all share;
  // `sum` is what the optimizer applies: of compressed tensors with momentum and decay in it. Every process
  // of the group must call it, with finite gradients alone. Throws std::invalid_argument that names the
  // worker for a packet that cannot be read.
  void sum(const ExchangeStep& step, std::span<const std::vector<std::span<float>>> gradients,
           std::span<const std::span<const float>> weights, std::span<const std::span<float>> sum);

  ExchangeCounts& counts() { return counts_; }
  const ExchangeCounts& counts() const { return counts_; }
  // What the n-th worker of this process has not sent of a tensor; only where it compresses.
  GradientCompressor& unsent(int here, std::size_t tensor) { return unsent_[here][tensor]; }

 private:
  Bytes packet(const ExchangeStep& step, int here, const std::vector<std::span<float>>& gradients,
               std::span<const std::span<const float>> weights);
  void add(int worker, const Bytes& packet, std::span<const std::span<float>> sum);

  Group& group_;
  std::vector<TensorSite> tensors_;
  std::optional<CompressionRule> compression_;
  std::optional<double> clip_norm_;
  std::vector<std::vector<GradientCompressor>> unsent_;  // of this process's workers; empty ones where dense
  ExchangeCounts counts_;
};

}  // namespace mantissa::workers
