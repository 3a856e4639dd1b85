// Updates of weights for machines, and what the golden model and the closed form say of them.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/machine/update_job.hpp"

namespace mantissa::test {

struct UpdateCase {
  Format gradient_format = formats::fp32;
  std::vector<std::uint32_t> gradient = {};
  std::vector<std::uint16_t> weights = {};
  std::vector<float> momentum = {};
  WeightUpdateConfig config = {};
  std::optional<Encoding> operand = std::nullopt;
  GemmlowpRange range = {};
  std::uint64_t run_seed = 1;

  // Points into the case.
  UpdateJob job() const;
  UpdateRun expected(const Architecture& arch) const;
  std::string text() const;
};

// Formats, roundings and operands of all kinds; in every sixth case a gradient is not finite.
UpdateCase random_update(std::mt19937_64& engine, std::int64_t most_elements);
Architecture random_update_machine(std::mt19937_64& engine);

// Empty: equal. Otherwise the first thing that is not.
std::string difference(const UpdateRun& expected, const UpdateRun& actual);

}  // namespace mantissa::test
