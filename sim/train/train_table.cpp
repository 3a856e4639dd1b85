#include "sim/train/train_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/support/text_table.hpp"

namespace mantissa::train {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(part) / static_cast<double>(whole);
}

std::string conversions_text(const TrainReport& report) {
  if (report.conversions.empty()) return "";
  TextTable table({{"Layer", TextTable::Align::left},
                   {"tensors", TextTable::Align::left},
                   {"elements"},
                   {"overflow"},
                   {"underflow"},
                   {"became zero"}});
  for (const ConversionReport& each : report.conversions) {
    const ConversionCounts& counts = each.counts;
    table.row({each.layer, each.tensors, with_prefix(static_cast<double>(counts.elements)),
               percent_text(share(counts.overflow, counts.elements)),
               percent_text(share(counts.underflow, counts.elements)),
               percent_text(share(counts.flushed_to_zero, counts.elements))});
  }
  return fmt::format("\nQuantizers, in {} steps\n{}", report.counted_steps, table.text());
}

std::string sparsity_text(const TrainReport& report) {
  if (report.pruned_layers.empty() || report.history.empty()) return "";
  const std::vector<double>& measured = report.history.back().sparsity;
  const std::vector<double>& target = report.history.back().target_sparsity;
  if (measured.size() != report.pruned_layers.size()) return "";
  TextTable table({{"Pruned layer", TextTable::Align::left}, {"target"}, {"last epoch"}, {"apart"}});
  for (std::size_t i = 0; i < measured.size(); ++i) {
    table.row({report.pruned_layers[i], percent_text(target[i]), percent_text(measured[i]),
               percent_text(measured[i] - target[i])});
  }
  return "\n" + table.text();
}

std::string gradients_text(const TrainReport& report) {
  if (report.gradients.empty()) return "";
  TextTable table({{"Gradient, last step", TextTable::Align::left},
                   {"zeros"},
                   {"sigma ln"},
                   {"KS lognormal"},
                   {"normal"},
                   {"Laplace"}});
  std::size_t best = 0;
  for (const GradientReport& gradient : report.gradients) {
    table.row({gradient.layer, percent_text(gradient.zero_share), fixed_text(gradient.sigma, 2),
               fixed_text(gradient.ks_lognormal, 3), fixed_text(gradient.ks_normal, 3),
               fixed_text(gradient.ks_laplace, 3)});
    if (gradient.ks_lognormal < std::min(gradient.ks_normal, gradient.ks_laplace)) ++best;
  }
  return fmt::format("\n{}lognormal is nearest in {} of {} layers\n", table.text(), best,
                     report.gradients.size());
}

std::string exchange_text(const TrainReport& report) {
  if (!report.exchange || report.exchange->steps == 0) return "";
  const workers::ExchangeCounts& counts = *report.exchange;
  const auto dense = static_cast<double>(counts.dense_bytes());
  const auto sent = static_cast<double>(counts.sent_bytes());
  return fmt::format(
      "\nsent by {} worker{}: {}B a step, {}B in all; dense {}B, {:.1f} times as much (matrices {:.1f} "
      "times)\n",
      report.workers, report.workers == 1 ? "" : "s", with_prefix(sent / static_cast<double>(counts.steps)),
      with_prefix(sent), with_prefix(dense), dense / sent, counts.matrices.ratio());
}

}  // namespace

std::string train_heading(const TrainReport& report) {
  const std::string workers = report.workers == 1 ? "" : fmt::format(" x {} workers", report.workers);
  return fmt::format(
      "network {}, recipe {}, {} parameters, {} images, batch {}{}, seed {}, array {} x {}\n\n"
      "epoch  train loss  train acc  val loss  val acc  loss scale  skipped     time\n",
      report.network, report.recipe, report.parameters, report.images, report.batch, workers, report.seed,
      report.rows, report.cols);
}

std::string epoch_line(const TrainReport& report) {
  const EpochReport& epoch = report.history.back();
  return fmt::format("{:5}  {:10.4f}  {:8.2f}%  {:8.4f}  {:6.2f}%  {:>10}  {:7}  {:>7}\n",
                     report.history.size(), epoch.train_loss, 100 * epoch.train_accuracy, epoch.val_loss,
                     100 * epoch.val_accuracy, fmt::format("2^{}", epoch.loss_exponent), epoch.skipped_steps,
                     time_text(epoch.seconds));
}

std::string train_summary(const TrainReport& report) {
  const auto best = std::max_element(
      report.history.begin(), report.history.end(),
      [](const EpochReport& a, const EpochReport& b) { return a.val_accuracy < b.val_accuracy; });
  std::string text =
      conversions_text(report) + sparsity_text(report) + gradients_text(report) + exchange_text(report);
  if (best == report.history.end()) return text;
  return fmt::format("{}\nvalidation accuracy: {} at the end, {} at best\nSHA-256 of the weights: {}\n", text,
                     percent_text(report.history.back().val_accuracy), percent_text(best->val_accuracy),
                     report.weights_digest);
}

}  // namespace mantissa::train
