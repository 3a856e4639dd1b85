// An engine did something else than the golden kernels and the closed form.
#pragma once

#include <stdexcept>

namespace mantissa::replay {

// what() is the whole story, for a person, over several lines.
class Difference : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

}  // namespace mantissa::replay
