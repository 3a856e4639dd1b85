#include "sim/machine/engine.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

constexpr std::array<std::string_view, 4> engine_names = {"fast", "systemc", "rtl", "lockstep"};

}  // namespace

Engine parse_engine(std::string_view text) {
  std::string known;
  for (std::size_t i = 0; i < engine_names.size(); ++i) {
    if (engine_names[i] == text) return static_cast<Engine>(i);
    known += (known.empty() ? "" : ", ") + std::string(engine_names[i]);
  }
  throw std::invalid_argument("unknown engine " + in_quotes(text) + "; there are " + known);
}

std::string_view name_of(Engine engine) { return engine_names.at(static_cast<std::size_t>(engine)); }

}  // namespace mantissa
