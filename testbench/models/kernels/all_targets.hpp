// Runs a check on every SIMD target that this CPU has.
#pragma once

#include <string>

#include "models/kernels/targets.hpp"

namespace mantissa::test {

template <class Check>
void on_every_target(const Check& check) {
  for (const std::string& target : kernels::targets()) {
    kernels::force_target(target);
    check(target);
  }
  kernels::force_target("");
}

}  // namespace mantissa::test
