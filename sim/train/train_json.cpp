#include "sim/train/train_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/support/json_text.hpp"

namespace mantissa::train {
namespace {

OrderedJson epoch_json(const EpochReport& epoch) {
  OrderedJson json{{"train_loss", epoch.train_loss},
                   {"train_accuracy", epoch.train_accuracy},
                   {"val_loss", epoch.val_loss},
                   {"val_accuracy", epoch.val_accuracy},
                   {"steps", epoch.steps},
                   {"skipped_steps", epoch.skipped_steps},
                   {"loss_scale_exponent", epoch.loss_exponent},
                   {"training_seconds", epoch.seconds}};
  if (!epoch.sparsity.empty()) {
    json["sparsity"] = epoch.sparsity;
    json["target_sparsity"] = epoch.target_sparsity;
  }
  return json;
}

OrderedJson conversion_json(const ConversionReport& conversion) {
  const ConversionCounts& counts = conversion.counts;
  const auto share = [&](std::uint64_t part) {
    return static_cast<double>(part) / static_cast<double>(counts.elements);
  };
  return {{"layer", conversion.layer},
          {"tensors", conversion.tensors},
          {"elements", counts.elements},
          {"overflow_rate", share(counts.overflow)},
          {"underflow_rate", share(counts.underflow)},
          {"flushed_to_zero_rate", share(counts.flushed_to_zero)}};
}

OrderedJson gradient_json(const GradientReport& gradient) {
  return {{"layer", gradient.layer},           {"elements", gradient.elements},
          {"zero_share", gradient.zero_share}, {"mu_ln", gradient.mu},
          {"sigma_ln", gradient.sigma},        {"ks_lognormal", gradient.ks_lognormal},
          {"ks_normal", gradient.ks_normal},   {"ks_laplace", gradient.ks_laplace}};
}

OrderedJson size_json(const ExchangeSize& size) {
  OrderedJson json{{"dense_bytes", size.dense_bytes}, {"sent_bytes", size.sent_bytes}};
  if (size.sent_bytes > 0) json["ratio"] = size.ratio();
  return json;
}

// Of all workers together.
OrderedJson exchange_json(const workers::ExchangeCounts& counts) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, counts.steps));
  OrderedJson json{{"steps", counts.steps}};
  json.update(size_json({.dense_bytes = counts.dense_bytes(), .sent_bytes = counts.sent_bytes()}));
  json["dense_bytes_per_step"] = static_cast<double>(counts.dense_bytes()) / steps;
  json["sent_bytes_per_step"] = static_cast<double>(counts.sent_bytes()) / steps;
  json["matrices"] = size_json(counts.matrices);
  json["vectors"] = size_json(counts.vectors);
  json["control_bytes"] = counts.control;
  return json;
}

}  // namespace

std::string train_json(const TrainReport& report) {
  OrderedJson json{{"mantissa_train", train_schema},
                   {"version", report.version},
                   {"network", report.network},
                   {"network_hash", report.network_hash},
                   {"recipe", report.recipe},
                   {"recipe_hash", report.recipe_hash},
                   {"arch", report.arch},
                   {"rows", report.rows},
                   {"cols", report.cols},
                   {"seed", report.seed},
                   {"epochs", report.epochs},
                   {"batch", report.batch},
                   {"workers", report.workers},
                   {"images", report.images},
                   {"parameters", report.parameters},
                   {"learning_rate", report.learning_rate},
                   {"momentum", report.momentum},
                   {"weight_decay", report.weight_decay},
                   {"val_accuracy", OrderedJson::array()},
                   {"history", OrderedJson::array()},
                   {"loss_scale_exponents", OrderedJson::array()}};
  for (const EpochReport& epoch : report.history) {
    json["val_accuracy"].push_back(epoch.val_accuracy);
    json["history"].push_back(epoch_json(epoch));
  }
  for (const auto& [step, exponent] : report.loss_scale)
    json["loss_scale_exponents"].push_back({{"step", step}, {"exponent", exponent}});
  if (report.target_sparsity > 0) {
    json["target_sparsity"] = report.target_sparsity;
    json["pruned_layers"] = report.pruned_layers;
  }
  json["counted_steps"] = report.counted_steps;
  json["conversions"] = OrderedJson::array();
  for (const ConversionReport& conversion : report.conversions)
    json["conversions"].push_back(conversion_json(conversion));
  json["gradients"] = OrderedJson::array();
  for (const GradientReport& gradient : report.gradients)
    json["gradients"].push_back(gradient_json(gradient));
  if (report.exchange) json["exchange"] = exchange_json(*report.exchange);
  json["weights_digest"] = report.weights_digest;
  return json_text(json, 2) + "\n";
}

}  // namespace mantissa::train
