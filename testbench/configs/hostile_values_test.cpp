// Every key and every value of every shipped configuration replaced by thousands of characters that command a
// terminal: what complains quotes them escaped and cut, on one line.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <regex>
#include <string>

#include "sim/arch/architecture_yaml.hpp"
#include "sim/energy/energy_yaml.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/train/network_yaml.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

const std::string hostile = R"("x\e[2J\x9B1m\u202E\n)" + std::string(5000, 'z') + '"';

// How many of them are refused.
int refuse_hostile(const std::string& directory,
                   const std::function<void(const std::string& text, const std::string& file)>& parse) {
  int refused = 0;
  for (const auto& entry : fs::directory_iterator(MANTISSA_SOURCE_DIR "/sim/configs/" + directory)) {
    const std::string text =
        std::regex_replace(contents(entry.path()), std::regex("(^|\n)#[^\n]*|  +#[^\n]*"), "$1");
    EXPECT_EQ(refusal([&] { parse(text, "f.yaml"); }), "(accepted)") << entry.path();
    const std::regex pair(R"re(([a-z_0-9]+): *("[^"\n]*"|[^"{}\[\],\n]+))re");
    for (std::sregex_iterator at(text.begin(), text.end(), pair), end; at != end; ++at) {
      for (const int group : {1, 2}) {
        std::string bad = text;
        bad.replace(static_cast<std::size_t>(at->position(group)),
                    static_cast<std::size_t>(at->length(group)), hostile);
        const std::string why = refusal([&] { parse(bad, "f.yaml"); });
        refused += why == "(accepted)" ? 0 : 1;
        EXPECT_LT(why.size(), 800U) << entry.path() << ": " << at->str();
        for (const char* raw : {"\x1b", "\u009B", "\u202E", "\n"})
          EXPECT_EQ(why.find(raw), std::string::npos) << entry.path() << ": " << at->str();
      }
    }
  }
  return refused;
}

TEST(HostileValues, OfRecipes) {
  EXPECT_GT(refuse_hostile("recipes", [](const auto& text, const auto& file) { parse_recipe(text, file); }),
            100);
}

TEST(HostileValues, OfArchitectures) {
  EXPECT_GT(
      refuse_hostile("arch", [](const auto& text, const auto& file) { parse_architecture(text, file); }), 20);
}

TEST(HostileValues, OfEnergyTables) {
  EXPECT_GT(
      refuse_hostile("energy", [](const auto& text, const auto& file) { parse_energy_table(text, file); }),
      20);
}

TEST(HostileValues, OfNetworks) {
  EXPECT_GT(refuse_hostile("networks",
                           [](const auto& text, const auto& file) { train::parse_network(text, file); }),
            20);
}

}  // namespace
}  // namespace mantissa::test
