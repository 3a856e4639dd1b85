// A replay report as a small CNN gives it: made up, but it keeps every law, and its figures hang together.
#pragma once

#include "sim/report/replay_report.hpp"

namespace mantissa::test {

// `blocks` convolutions, each with a batch norm, then a linear layer; all three passes at each step.
ReplayReport example_report(int blocks = 3, int steps = 2, double sparsity = 0.85);

// Two layers and one step in round numbers, for tests that check them by hand.
ReplayReport tiny_report();

}  // namespace mantissa::test
