// What a training run did, epoch by epoch: what the tables, the JSON and the plots are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/format/convert.hpp"
#include "sim/trace/gradient.hpp"
#include "sim/workers/gradient_exchange.hpp"

namespace mantissa::train {

struct EpochReport {
  double train_loss = 0;  // mean per image, of the steps as they were
  double train_accuracy = 0;
  double val_loss = 0;
  double val_accuracy = 0;
  std::int64_t steps = 0;
  std::int64_t skipped_steps = 0;  // a gradient was not finite
  int loss_exponent = 0;           // after the epoch
  double seconds = 0;              // training alone
  // Share of zeros in the pruned errors, one per pruned layer in order; empty: nothing is pruned.
  std::vector<double> sparsity;
  std::vector<double> target_sparsity;  // what the layers' thresholds were to give, likewise
};

// One class of tensors in one layer, over the steps that were counted.
struct ConversionReport {
  std::string layer;
  std::string tensors;  // "activations"
  ConversionCounts counts;
};

struct TrainReport {
  std::string version;
  std::string network;
  std::string network_hash;
  std::string recipe;
  std::string recipe_hash;
  std::string arch;
  int rows = 0;
  int cols = 0;
  std::uint64_t seed = 1;
  std::int64_t epochs = 0;  // that were asked for
  std::int64_t batch = 0;   // of each worker
  std::int64_t images = 0;  // of an epoch
  int workers = 1;
  // None where a worker's gradients go to the optimizer as they are.
  std::optional<workers::ExchangeCounts> exchange;
  std::int64_t parameters = 0;
  double learning_rate = 0;
  double momentum = 0;
  double weight_decay = 0;
  double target_sparsity = 0;  // 0: nothing is pruned
  std::vector<std::string> pruned_layers;
  std::vector<EpochReport> history;
  std::vector<std::pair<std::int64_t, int>> loss_scale;  // step and exponent, wherever it changed
  std::vector<ConversionReport> conversions;
  std::int64_t counted_steps = 0;
  std::vector<GradientReport> gradients;  // of the last step
  std::string weights_digest;
};

}  // namespace mantissa::train
