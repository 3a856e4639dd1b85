// A training run as JSON: everything that the tables and plots show.
#pragma once

#include <string>

#include "sim/train/train_report.hpp"

namespace mantissa::train {

// Of the form below; raised when a key changes its meaning. tools/plot reads it.
constexpr int train_schema = 1;

std::string train_json(const TrainReport& report);

}  // namespace mantissa::train
