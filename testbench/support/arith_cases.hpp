// The shared test data arith_cases.json: results of an independent reference program, one array per unit.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace mantissa::test {

inline const nlohmann::json& arith_cases(const std::string& unit) {
  static const nlohmann::json all = [] {
    std::ifstream file(MANTISSA_TEST_DATA "/arith_cases.json");
    return nlohmann::json::parse(file);
  }();
  return all.at(unit);
}

inline std::uint32_t hex32(const nlohmann::json& text) {
  return static_cast<std::uint32_t>(std::stoul(text.get<std::string>(), nullptr, 16));
}
inline std::uint64_t hex64(const nlohmann::json& text) {
  return std::stoull(text.get<std::string>(), nullptr, 16);
}

}  // namespace mantissa::test
