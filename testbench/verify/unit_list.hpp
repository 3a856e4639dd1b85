// The units as the program itself lists them: a new unit is under test as soon as it is in the table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mantissa::test {

// `verify --list --json`, once per process.
const nlohmann::json& unit_list();
std::vector<std::string> unit_names();
// The record of one unit.
const nlohmann::json& unit_record(const std::string& name);

// A name that GoogleTest accepts.
std::string test_name(std::string text);

}  // namespace mantissa::test
