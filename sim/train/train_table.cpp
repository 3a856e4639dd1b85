#include "sim/train/train_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
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
  return "\nQuantizers, in " + std::to_string(report.counted_steps) + " steps\n" + table.text();
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
  return "\n" + table.text() + "lognormal is nearest in " + std::to_string(best) + " of " +
         std::to_string(report.gradients.size()) + " layers\n";
}

}  // namespace

std::string train_heading(const TrainReport& report) {
  return "network " + report.network + ", recipe " + report.recipe + ", " +
         std::to_string(report.parameters) + " parameters, " + std::to_string(report.images) +
         " images, batch " + std::to_string(report.batch) + ", seed " + std::to_string(report.seed) +
         ", array " + std::to_string(report.rows) + " x " + std::to_string(report.cols) +
         "\n\nepoch  train loss  train acc  val loss  val acc  loss scale  skipped     time\n";
}

std::string epoch_line(const TrainReport& report) {
  const EpochReport& epoch = report.history.back();
  char line[128];
  std::snprintf(line, sizeof line, "%5zu  %10.4f  %8.2f%%  %8.4f  %6.2f%%  %10s  %7lld  %7s\n",
                report.history.size(), epoch.train_loss, 100 * epoch.train_accuracy, epoch.val_loss,
                100 * epoch.val_accuracy, ("2^" + std::to_string(epoch.loss_exponent)).c_str(),
                static_cast<long long>(epoch.skipped_steps), time_text(epoch.seconds).c_str());
  return line;
}

std::string train_summary(const TrainReport& report) {
  const auto best = std::max_element(
      report.history.begin(), report.history.end(),
      [](const EpochReport& a, const EpochReport& b) { return a.val_accuracy < b.val_accuracy; });
  std::string text = conversions_text(report) + sparsity_text(report) + gradients_text(report);
  if (best == report.history.end()) return text;
  return text + "\nvalidation accuracy: " + percent_text(report.history.back().val_accuracy) +
         " at the end, " + percent_text(best->val_accuracy) +
         " at best\nSHA-256 of the weights: " + report.weights_digest + "\n";
}

}  // namespace mantissa::train
