// Deep gradient compression (Lin et al. 2018, algorithm 4): momentum correction, local accumulation, sampled
// top-k threshold, momentum factor masking; what survives is sent in the run-length code (ARITHMETIC.md 9).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mantissa {

// How the threshold for a share of the largest magnitudes is found.
struct TopShare {
  double keep = 0.001;             // share of elements to send, 0 < keep <= 1
  double sample = 0.01;            // share looked at for the first guess, 0 < sample <= 1; 1 is exact
  double too_many = 1.3;           // more survivors than this times the target: exact top-k among them
  double too_few = 0.8;            // fewer: the threshold falls by a fifth and is tried again
  int attempts = 10;               // how often it may fall
  std::uint64_t random_start = 0;  // any random number: the first sampled element is this modulo the stride

  // Throws std::invalid_argument for a share or bound outside its range.
  void check() const;
};

// Survivors aimed at: the nearest whole number to keep * elements, at least 1.
std::size_t target_count(std::size_t elements, double keep);

// Every stride-th element is a sample. The stride is one above a multiple of 8, so that samples do not sit in
// one column of a weight matrix, and small enough to see the rarest survivors twice.
std::size_t sample_stride(std::size_t elements, const TopShare& share);

// |v| >= threshold survives. Never 0: a zero carries nothing and is never sent.
float top_share_threshold(std::span<const float> values, const TopShare& share);

// The limit of one node's gradient norm: threshold / sqrt(nodes).
float local_clipping_limit(float threshold, int nodes);
// Scales a gradient, which is all of its tensors together, to the limit if its L2 norm is larger.
void clip_to_norm(std::span<const std::span<float>> tensors, float limit);
void clip_to_norm(std::span<float> gradient, float limit);

// One worker's part of a gradient's mean, in place: fp32(fp32(g * 2^-loss_exponent) / workers).
void take_share(std::span<float> gradient, int loss_exponent, int workers);
// One worker's part of the weight decay: G = fma(fp32(decay / workers), w, G).
void add_decay_share(std::span<float> gradient, std::span<const float> weights, float decay, int workers);

// The share kept while training starts: 1/4, 1/16, 1/64, 1/256 in four equal parts of the warm-up, never
// below `final_keep`, which holds from then on.
double warm_up_keep(std::int64_t iteration, std::int64_t warm_up_iterations, double final_keep);

enum class MomentumKind : std::uint8_t {
  heavy_ball,  // U = fma(m, U, G);  V = V + U
  nesterov,    // U = m * (U + G);   V = V + (U + G)
};

// What becomes of the velocity U of an element that was sent.
enum class SentVelocity : std::uint8_t {
  cleared,  // momentum factor masking: what is late must not push on in an old direction
  kept,     // without it: with every element sent in every step, this is momentum SGD
};

// One tensor of one node: what it has not sent yet.
class GradientCompressor {
 public:
  explicit GradientCompressor(std::size_t elements, float momentum = 0.9F,
                              MomentumKind kind = MomentumKind::heavy_ball,
                              SentVelocity sent = SentVelocity::cleared);

  // Takes in a gradient (already divided by the number of nodes, and clipped), returns the message to send,
  // and forgets V, and U if it is to be cleared, where an element was sent.
  std::vector<std::uint8_t> compress(std::span<const float> gradient, const TopShare& share);

  std::span<const float> velocity() const { return velocity_; }        // U
  std::span<const float> accumulated() const { return accumulated_; }  // V
  // As they were after some step. Throws std::invalid_argument for another number of elements.
  void restore(std::span<const float> velocity, std::span<const float> accumulated);

 private:
  float momentum_;
  MomentumKind kind_;
  SentVelocity sent_;
  std::vector<float> velocity_;
  std::vector<float> accumulated_;
};

// One node's message added to the sum over nodes, which is then the plain SGD gradient.
void add_message(std::span<const std::uint8_t> message, std::span<float> sum);

// Bytes of one exchange, dense and as sent. Tensors of one dimension (bias, batch norm) are sent dense.
struct ExchangeSize {
  std::uint64_t dense_bytes = 0;
  std::uint64_t sent_bytes = 0;

  void add_dense(std::uint64_t elements);
  void add_compressed(std::uint64_t elements, std::uint64_t message_bytes);
  double ratio() const { return static_cast<double>(dense_bytes) / static_cast<double>(sent_bytes); }
};

}  // namespace mantissa
