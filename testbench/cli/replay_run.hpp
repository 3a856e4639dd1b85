// `mantissa replay` for tests that read its JSON.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {

using Json = nlohmann::json;

inline const std::string traces = MANTISSA_SOURCE_DIR "/traces/";
inline const std::string cnn = traces + "fashion-cnn.safetensors";

// A file of this text, with its path.
inline std::string written(const Scratch& scratch, const std::string& name, const std::string& text) {
  std::string path = scratch.path() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

inline Json replay(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "replay");
  arguments.emplace_back("--json");
  const Finished run = run_mantissa(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out.substr(0, 2000);
  return run.exit_code == 0 ? Json::parse(run.out) : Json();
}

}  // namespace mantissa::test
