// Two models that do not agree: where, when, and on what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct Mismatch {
  std::string what;   // "acc_o is wrong", "no output for 10000 cycles", ...
  std::string model;  // "rtl" or "systemc"
  std::string stage;  // where the datapath first went wrong, if the unit shows it
  std::uint64_t cycle = 0;
  struct Value {
    std::string port;
    std::string expected;  // hex; empty for an input
    std::string actual;
    std::string expected_decimal = {};  // empty: not a number
    std::string actual_decimal = {};
  };
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<std::string> golden;  // the golden model's inside view
};

// Stage, inputs, outputs and the golden model's view, one indented line each.
std::string describe(const Mismatch& mismatch);

}  // namespace mantissa
