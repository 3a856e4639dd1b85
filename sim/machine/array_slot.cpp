#include "sim/machine/array_slot.hpp"

namespace mantissa {
namespace {

std::unique_ptr<Device> load_array(const Architecture& arch, const ArrayFormats& formats, Engine engine,
                                   const std::filesystem::path& rtl_directory) {
  if (engine == Engine::systemc) return nullptr;
  return std::make_unique<Device>(compile_array(arch, formats, rtl_directory).object);
}

}  // namespace

// In braces, so from left to right: everything that can fail comes before the first module, as SystemC does
// not take one back.
ArraySlot::ArraySlot(const Architecture& arch, const ArrayFormats& formats, Engine engine,
                     const std::filesystem::path& rtl_directory)
    : ArraySlot{engine, array_name(formats), load_array(arch, formats, engine, rtl_directory),
                make_systemc_array(arch, formats)} {}

ArraySlot::ArraySlot(Engine engine, const std::string& name, std::unique_ptr<Device> device,
                     std::unique_ptr<ArrayUnit> unit)
    : systemc_(engine == Engine::rtl ? nullptr : unit.get()),
      slot_(engine, name, std::move(device), std::move(unit)) {
  constexpr const char* names[] = {"tap_o",        "c_o",         "flags_o",   "last_o",
                                   "suppressed_o", "zero_seed_o", "overflow_o"};
  for (int port = 0; port < output_count; ++port) {
    place_[port] = slot_.find_output(names[port]);
    if (place_[port] < 0) continue;
    UnitSlot::Watched watched{.output = place_[port]};
    // Without a tap what drains are the sums themselves.
    if (port == tap || (port == c && place_[tap] < 0)) {
      watched.stage = "accumulate";
    } else if (port == c || port == flags) {
      watched.stage = "bias or quantize";
    }
    watched_.push_back(watched);
  }
}

}  // namespace mantissa
