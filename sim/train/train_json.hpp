// A training run as JSON: everything that the tables and plots show.
#pragma once

#include <string>

#include "sim/train/train_report.hpp"

namespace mantissa::train {

std::string train_json(const TrainReport& report);

}  // namespace mantissa::train
