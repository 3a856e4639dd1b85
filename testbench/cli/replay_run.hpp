// `mantissa replay` for tests that read its JSON.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/cli/run_program.hpp"

namespace mantissa::test {

using Json = nlohmann::json;

inline const std::string traces = MANTISSA_SOURCE_DIR "/traces/";
inline const std::string cnn = traces + "fashion-cnn.safetensors";

inline Json replay(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "replay");
  arguments.emplace_back("--json");
  const Finished run = run_mantissa(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out.substr(0, 2000);
  return run.exit_code == 0 ? Json::parse(run.out) : Json();
}

}  // namespace mantissa::test
