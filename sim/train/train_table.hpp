// A training run for people: one line per epoch, and tables at the end.
#pragma once

#include <string>

#include "sim/train/train_report.hpp"

namespace mantissa::train {

// What is about to happen, and the heading of the epochs' lines.
std::string train_heading(const TrainReport& report);
std::string epoch_line(const TrainReport& report);
// After the last epoch.
std::string train_summary(const TrainReport& report);

}  // namespace mantissa::train
