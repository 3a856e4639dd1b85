// Which file a name means.
#include "sim/support/config_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/support/yaml_document.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

TEST(ConfigFile, NamesAndPaths) {
  EXPECT_FALSE(is_config_path("fp8"));
  EXPECT_FALSE(is_config_path("fp8.yml"));
  EXPECT_TRUE(is_config_path("fp8.yaml"));
  EXPECT_TRUE(is_config_path("./fp8"));
  const ConfigFile shipped = find_config(ConfigKind::architecture, "edge");
  EXPECT_EQ(shipped.origin, "edge");
  EXPECT_EQ(shipped.path.filename(), "edge.yaml");
  EXPECT_NE(shipped.text.find("name: edge"), std::string::npos);
  EXPECT_EQ(shipped_configs(ConfigKind::architecture),
            (std::vector<std::string>{"datacentre", "edge", "rapid-core"}));
  // A name never leaves its directory.
  EXPECT_NE(refusal([] { find_config(ConfigKind::architecture, ".."); }).find("unknown architecture '..'"),
            std::string::npos);
  EXPECT_EQ(refusal([] { find_config(ConfigKind::energy, "\x1b[31m"); }).find('\x1b'), std::string::npos);
}

TEST(ConfigFile, FilesThatCannotBeConfigurations) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/x.yaml";
  EXPECT_EQ(refusal([&] { find_config(ConfigKind::recipe, path); }),
            "cannot read " + path + ": no such file");
  std::filesystem::create_directory(path);
  EXPECT_EQ(refusal([&] { find_config(ConfigKind::recipe, path); }),
            "cannot read " + path + ": it is a directory");
  std::filesystem::remove(path);
  std::ofstream(path) << std::string(YamlDocument::max_bytes + 1, ' ');
  EXPECT_EQ(refusal([&] { find_config(ConfigKind::recipe, path); }),
            "cannot read " + path + ": it has 1048577 bytes, and at most 1048576 are read");
  std::ofstream(path) << "a: 1\n";
  EXPECT_EQ(find_config(ConfigKind::recipe, path).text, "a: 1\n");
}

}  // namespace
}  // namespace mantissa::test
