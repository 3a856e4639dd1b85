// Whether the buffers can hold what the layers need, asked before the first layer runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "sim/arch/architecture.hpp"
#include "sim/replay/step_plan.hpp"

namespace mantissa::replay {

// Looks at layer after layer and remembers the largest need of each buffer. Other simulators' dataflows have
// no buffers for products.
class BufferCheck {
 public:
  // Keeps references.
  BufferCheck(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch);

  void look(const PlannedLayer& planned);
  // Throws std::invalid_argument with each key that is too small, what it is, the smallest size that works,
  // and what needs it.
  void finish() const;

 private:
  // Runs what throws BufferTooSmall until it does not, with buffers that grow as it says.
  void grow_for(const PlannedLayer& planned, const std::string& what,
                const std::function<void(const Architecture&)>& run);
  void look_at_products(const PlannedLayer& planned);
  void look_at_norm(const PlannedLayer& planned);
  void look_at_update(const PlannedLayer& planned);

  const trace::Trace& trace_;
  const Recipe& recipe_;
  const Architecture& arch_;
  Architecture large_;                      // whose buffers hold everything so far
  std::map<std::string, std::string> why_;  // by key
};

}  // namespace mantissa::replay
