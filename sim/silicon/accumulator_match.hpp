// Which accumulator gives the results that a device gave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/mac/accumulator.hpp"
#include "sim/silicon/measured_dots.hpp"

namespace mantissa::silicon {

// What the device did with the start value of a line. Some instructions have none.
enum class Start : std::uint8_t { given, zero };

struct Candidate {
  std::string name;
  Accumulator accumulator;
  Start start = Start::given;
};

struct Match {
  Candidate candidate;
  std::size_t equal = 0;
  std::vector<std::size_t> different;  // indices of measurements, ascending
};

// The result of a measurement's operands as FP32 bits. The start value enters the accumulator by `rne`, one
// that truncates its sums by `rtz`.
std::uint32_t computed(const MeasuredDots& dots, std::size_t index, const Candidate& candidate);

// What the accumulator holds after each of its roundings, the last one being the result, as FP32 bits.
std::vector<std::uint32_t> computed_steps(const MeasuredDots& dots, std::size_t index,
                                          const Candidate& candidate);

// Any NaN equals any other: devices have NaNs of their own.
Match match(const MeasuredDots& dots, const Candidate& candidate, int threads);

// A preset or all of them, with the start value and without; without it only where a line has one.
std::vector<Candidate> candidates(const MeasuredDots& dots, const std::string& preset);

// The candidate with one parameter changed: aligned bits, size of the group, bits of the format, final
// rounding, order.
std::vector<Candidate> variations(const Candidate& candidate);

}  // namespace mantissa::silicon
