// Registers through JSON and back, and under a changing loss scale.
#include "sim/layer/layer_registers.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testbench/support/refusal.hpp"

namespace mantissa {
namespace {

using nlohmann::json;

TEST(LayerRegisters, GoThroughJsonAndBack) {
  LayerRegisters registers;
  EXPECT_EQ(registers_json(registers).dump(), "{}");
  EXPECT_EQ(parse_registers(json::object(), "here"), registers);
  registers.tau = 0.1;  // no binary fraction
  registers.error_format = Format::parse("e4m3:fnuz");
  registers.target = 0.85;
  registers.correction = -0.0125;
  registers.scale_of(Role::input) = 0;
  registers.scale_of(Role::grad_weight) = -128;
  const json written = json::parse(registers_json(registers).dump());
  EXPECT_EQ(parse_registers(written, "here"), registers);
  EXPECT_EQ(written["scales"], json({{"input", 0}, {"grad_weight", -128}}));
}

TEST(LayerRegisters, BadOnesAreRefused) {
  const auto refused = [](const char* text) {
    return test::refusal([&] { parse_registers(json::parse(text), "file: registers of 'fc'"); });
  };
  EXPECT_EQ(refused("[1]"), "file: registers of 'fc': is not an object");
  EXPECT_EQ(refused(R"({"tau":-1})"), "file: registers of 'fc': tau is -1; it must be a number from 0");
  EXPECT_EQ(refused(R"({"tau":"x"})"), "file: registers of 'fc': tau is \"x\"; it must be a number from 0");
  EXPECT_NE(refused(R"({"taw":1})").find("unknown key 'taw'; allowed: tau"), std::string::npos);
  EXPECT_NE(refused(R"({"error_format":"e9m9"})").find("error_format: "), std::string::npos);
  EXPECT_NE(refused(R"({"error_format":3})").find("it must be a string"), std::string::npos);
  EXPECT_NE(refused(R"({"scales":{"input":128}})").find("scale of input is 128"), std::string::npos);
  EXPECT_NE(
      refused(R"({"scales":{"input":18446744073709551615}})").find("scale of input is 18446744073709551615"),
      std::string::npos);
  EXPECT_NE(refused(R"({"scales":{"input":1.5}})").find("a whole number in -128..127"), std::string::npos);
  EXPECT_NE(refused(R"({"scales":{"inputs":1}})").find("unknown role 'inputs'"), std::string::npos);
  EXPECT_NE(refused(R"({"correction":-2})").find("correction is -2"), std::string::npos);
}

TEST(LayerRegisters, FollowTheLossScale) {
  LayerRegisters registers;
  registers.tau = 0.75;
  registers.scale.fill(5);
  registers.scale_of(Role::grad_input).reset();
  registers.follow_loss_scale(2);
  EXPECT_EQ(registers.tau, 3.0);
  for (int i = 0; i < role_count; ++i) {
    const auto role = static_cast<Role>(i);
    if (role == Role::grad_input) {
      EXPECT_FALSE(registers.scale_of(role));  // never used, so nothing to move
    } else {
      // Errors 4 times as large need a 4 times smaller scale.
      const bool gradient = role == Role::grad_output || role == Role::grad_weight;
      EXPECT_EQ(registers.scale_of(role), gradient ? 3 : 5) << name_of(role);
    }
  }
  registers.follow_loss_scale(-2);
  EXPECT_EQ(registers.tau, 0.75);
}

}  // namespace
}  // namespace mantissa
