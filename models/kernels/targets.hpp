// Which SIMD instruction sets the kernels were compiled for, which this CPU has, and how to force one (tests,
// bench).
#pragma once

#include <string>
#include <vector>

namespace mantissa::kernels {

// Names of the compiled targets that this CPU can run, best first: "AVX3" (AVX-512), "AVX2", "EMU128"
// (scalar).
std::vector<std::string> targets();

// Every kernel runs on this target until another is forced; "" returns to the best one. Not thread-safe
// against running kernels. Throws std::invalid_argument with the list of targets.
void force_target(const std::string& name);

// The target that kernels use now.
std::string current_target();

}  // namespace mantissa::kernels
