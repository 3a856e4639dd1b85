#include "models/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace mantissa::kernels {
namespace {

TEST(Targets, EndWithTheScalarFallback) { EXPECT_EQ(targets().back(), "SCALAR"); }

TEST(Targets, ForcingOneIsSeenAndUndone) {
  const std::string best = current_target();
  EXPECT_EQ(best, targets().front());
  for (const std::string& name : targets()) {
    force_target(name);
    EXPECT_EQ(current_target(), name);
  }
  force_target("");
  EXPECT_EQ(current_target(), best);
}

TEST(Targets, UnknownOneIsRefusedWithTheList) {
  try {
    force_target("MMX");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("MMX"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("SCALAR"), std::string::npos);
  }
}

}  // namespace
}  // namespace mantissa::kernels
