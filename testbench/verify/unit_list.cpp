#include "testbench/verify/unit_list.hpp"

#include <cctype>
#include <stdexcept>

#include "testbench/cli/run_program.hpp"

namespace mantissa::test {

const nlohmann::json& unit_list() {
  static const nlohmann::json list = nlohmann::json::parse(run_mantissa({"verify", "--list", "--json"}).out);
  return list;
}

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const nlohmann::json& unit : unit_list()) names.push_back(unit["unit"]);
  return names;
}

const nlohmann::json& unit_record(const std::string& name) {
  for (const nlohmann::json& unit : unit_list()) {
    if (unit["unit"] == name) return unit;
  }
  throw std::invalid_argument("no unit " + name);
}

std::string test_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

}  // namespace mantissa::test
