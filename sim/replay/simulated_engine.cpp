#include "sim/replay/simulated_engine.hpp"

#include <stdexcept>

namespace mantissa::replay {
namespace {

// The golden kernels alone.
class FastEngine : public Engine {};

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineOptions& options) {
  if (options.name == "fast") return std::make_unique<FastEngine>();
  throw std::invalid_argument("engine " + options.name + " is not there");
}

}  // namespace mantissa::replay
