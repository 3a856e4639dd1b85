#include "sim/machine/rtl_array.hpp"

#include <stdexcept>
#include <string>

#include "sim/machine/rtl_unit.hpp"
#include "sim/units/unit_configs.hpp"

namespace mantissa {
namespace {

void set_format(UnitParameters& parameters, const std::string& prefix, const Format& format) {
  parameters.set(prefix + "Exp", format.exponent_bits);
  parameters.set(prefix + "Man", format.mantissa_bits);
  parameters.set(prefix + "Bias", format.bias);
  parameters.set(prefix + "Specials", static_cast<int>(format.specials));
}

UnitParameters integer_parameters(const Architecture& arch, const ArrayFormats& formats) {
  return {{"Rows", arch.rows},
          {"Cols", arch.cols},
          {"Window", arch.window},
          {"Depth", arch.depth},
          {"Port", arch.port},
          {"ABits", formats.a.bits()},
          {"BBits", formats.b.bits()},
          {"AccBits", int_mac_acc_bits},
          {"DrainStages", arch.pipe_latency == 1 ? 0 : 1}};
}

}  // namespace

std::string array_name(const ArrayFormats& formats) { return formats.integers() ? "int_array" : "mac_array"; }

UnitParameters array_parameters(const Architecture& arch, const ArrayFormats& formats) {
  if (formats.integers()) return integer_parameters(arch, formats);
  const bool stochastic = formats.c_rounding.stochastic();
  UnitParameters parameters{{"Rows", arch.rows},
                            {"Cols", arch.cols},
                            {"Window", arch.window},
                            {"Depth", arch.depth},
                            {"Port", arch.port},
                            {"AccExp", formats.accumulator.exponent_bits},
                            {"AccMan", formats.accumulator.mantissa_bits},
                            {"CRound", static_cast<int>(formats.c_rounding.mode)},
                            {"CRndBits", stochastic ? formats.c_rounding.random_bits : 0},
                            {"CSaturate", formats.c_overflow == Overflow::saturate ? 1 : 0},
                            {"Leap", formats.leap},
                            {"QuantStages", arch.pipe_latency == 1 ? 0 : 1}};
  set_format(parameters, "A", formats.a.format());
  set_format(parameters, "B", formats.b.format());
  set_format(parameters, "C", formats.c);
  return parameters;
}

std::unique_ptr<ArrayUnit> make_systemc_array(const Architecture& arch, const ArrayFormats& formats) {
  const ArrayOptions options{.pipe_latency = arch.pipe_latency, .acc_double_buffer = arch.acc_double_buffer};
  const UnitParameters parameters = array_parameters(arch, formats);
  const char* name = sc_core::sc_gen_unique_name(array_name(formats).c_str());
  return formats.integers() ? make_int_array(name, parameters, options)
                            : make_mac_array(name, parameters, options);
}

void check_array(const Architecture& arch, const ArrayFormats& formats) {
  if (formats.integers()) int_array_config(array_parameters(arch, formats)).check();
}

void check_rtl_operands(const Architecture& arch, std::span<const Format> formats) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("the RTL array has no " + what +
                                "; it has a window of 2 or more and a port of at most the window");
  };
  if (arch.window < 2) refuse("window of " + std::to_string(arch.window));
  if (arch.port > arch.window) {
    refuse("port of " + std::to_string(arch.port) + " slices with a window of " +
           std::to_string(arch.window));
  }
  for (const Format& format : formats) {
    if (format.bias < 0) {
      throw std::invalid_argument("the RTL array has no format with a negative bias: " + format.name() +
                                  "; take the engine fast or systemc");
    }
  }
}

void check_rtl_array(const Architecture& arch, const ArrayFormats& formats) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument(
        "the RTL array has no " + what +
        "; it has pipe_latency 1 or 2, one set of accumulators (acc_double_buffer off)");
  };
  if (arch.pipe_latency != 1 && arch.pipe_latency != 2)
    refuse("pipe_latency " + std::to_string(arch.pipe_latency));
  if (arch.acc_double_buffer) refuse("acc_double_buffer");
  if (formats.integers()) {
    check_rtl_operands(arch, {});
  } else {
    const Format all[] = {formats.a.format(), formats.b.format(), formats.c};
    check_rtl_operands(arch, all);
  }
}

CompiledDevice compile_array(const Architecture& arch, const ArrayFormats& formats,
                             const std::filesystem::path& rtl_directory, bool wave) {
  check_rtl_array(arch, formats);
  return compile_unit(array_name(formats), array_parameters(arch, formats), rtl_directory, wave);
}

}  // namespace mantissa
