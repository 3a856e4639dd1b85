#include "sim/arch/architecture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

struct DataflowName {
  Dataflow dataflow;
  std::string_view name;
};
constexpr std::array<DataflowName, 5> dataflow_names = {{{Dataflow::os_skip, "os-skip"},
                                                         {Dataflow::scalesim_ws, "scalesim-ws"},
                                                         {Dataflow::scalesim_is, "scalesim-is"},
                                                         {Dataflow::scalesim_os, "scalesim-os"},
                                                         {Dataflow::stonne_os, "stonne-os"}}};

void check_range(std::string_view key, std::int64_t value, std::int64_t min, std::int64_t max) {
  if (value < min || value > max) {
    throw std::invalid_argument(std::string(key) + " " + std::to_string(value) +
                                " is out of range; allowed: " + std::to_string(min) + ".." +
                                std::to_string(max));
  }
}

}  // namespace

Dataflow parse_dataflow(std::string_view text) {
  std::string known;
  for (const auto& [dataflow, name] : dataflow_names) {
    if (name == text) return dataflow;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument("unknown dataflow " + in_quotes(text) + "; allowed: " + known);
}

std::string_view name_of(Dataflow dataflow) {
  for (const auto& [each, name] : dataflow_names) {
    if (each == dataflow) return name;
  }
  throw std::logic_error("a dataflow without a name");
}

std::string_view name_of(BlockOrder order) {
  switch (order) {
    case BlockOrder::m_outside:
      return "m-outside";
    case BlockOrder::n_outside:
      return "n-outside";
  }
  throw std::logic_error("an order without a name");
}

std::string_view name_of(NormFusion fusion) {
  switch (fusion) {
    case NormFusion::none:
      return "none";
    case NormFusion::drain:
      return "drain";
  }
  throw std::logic_error("a fusion without a name");
}

std::string_view name_of(GradientStorage storage) {
  switch (storage) {
    case GradientStorage::dense:
      return "dense";
    case GradientStorage::packed:
      return "packed";
  }
  throw std::logic_error("a storage without a name");
}

void Architecture::check() const {
  using Bounds = ArchitectureLimits;
  check_range("rows", rows, 1, Bounds::side);
  check_range("cols", cols, 1, Bounds::side);
  check_range("window", window, 1, Bounds::window);
  check_range("depth", depth, 1, Bounds::depth);
  check_range("port", port, 1, Bounds::window);
  check_range("pipe_latency", pipe_latency, 0, Bounds::pipe_latency);
  check_range("a_buffer", a_buffer_bytes, 1, Bounds::buffer_bytes);
  check_range("b_buffer", b_buffer_bytes, 1, Bounds::buffer_bytes);
  check_range("dram_latency in cycles", dram_latency_cycles, 0, Bounds::dram_latency_cycles);
  check_range("dram_burst", dram_burst_bytes, 1, Bounds::dram_burst_bytes);
  if (dram_burst_cycles.numerator < 1 || dram_burst_cycles.denominator < 1 ||
      dram_burst_cycles.value() > static_cast<double>(Bounds::dram_burst_cycles)) {
    throw std::invalid_argument("dram_bandwidth: a burst takes " + std::to_string(dram_burst_cycles.value()) +
                                " cycles; allowed: above 0, at most " +
                                std::to_string(Bounds::dram_burst_cycles));
  }
  check_range("c_buffer", c_buffer_bytes, 1, Bounds::buffer_bytes);
  check_range("sum_rows", sum_rows, 1, Bounds::side);
  check_range("dram_outstanding", dram_outstanding, 1, Bounds::outstanding);
  check_range("fp32_macs_per_cycle", fp32_macs_per_cycle, 1, std::int64_t{Bounds::side} * Bounds::side);
  check_range("norm_lanes", norm_lanes, 1, Bounds::side);
  check_range("update_lanes", update_lanes, 0, Bounds::side);
  if (mapping == Mapping::given && (blocks.m_block % rows != 0 || blocks.n_block % cols != 0)) {
    const auto up = [](std::int64_t size, int side) {
      return std::to_string((size + side - 1) / side * side);
    };
    throw std::invalid_argument("mapping: m_block " + std::to_string(blocks.m_block) + " and n_block " +
                                std::to_string(blocks.n_block) + " must be multiples of rows " +
                                std::to_string(rows) + " and cols " + std::to_string(cols) + "; " +
                                up(blocks.m_block, rows) + " and " + up(blocks.n_block, cols) + " are");
  }
  const auto of_blocks = [&](std::string_view key, std::string_view value, std::string_view without) {
    if (mapping != Mapping::simple || value == without) return;
    throw std::invalid_argument(
        std::string(key) + ": " + std::string(value) +
        " contradicts mapping: simple, whose machine has no such thing; allowed there: " +
        std::string(without));
  };
  of_blocks("norm_fusion", name_of(norm_fusion), "none");
  of_blocks("gradient_storage", name_of(gradient_storage), "dense");
  of_blocks("update_lanes", std::to_string(update_lanes), "0");
  if (mapping != Mapping::simple && dataflow != Dataflow::os_skip) {
    throw std::invalid_argument("mapping: dataflow " + std::string(name_of(dataflow)) +
                                " has no memory; only os-skip is cut into blocks");
  }
  if (!(clock_mhz >= Bounds::min_clock_mhz && clock_mhz <= Bounds::max_clock_mhz)) {
    throw std::invalid_argument("clock " + std::to_string(clock_mhz) +
                                " MHz is out of range; allowed: 0.001..1000000");
  }
}

void Architecture::check_simulated() const {
  using Bounds = ArchitectureLimits;
  check();
  const auto check_product = [](const std::string& keys, std::int64_t product, std::int64_t max) {
    if (product <= max) return;
    throw std::invalid_argument(keys + " = " + std::to_string(product) +
                                " is too large for a cycle-accurate engine; allowed: 1.." +
                                std::to_string(max) + "; --engine fast has no such limit");
  };
  const std::int64_t side = std::max(rows, cols);
  const std::string larger = rows >= cols ? "rows" : "cols";
  check_product("rows * cols", std::int64_t{rows} * cols, Bounds::simulated_elements);
  check_product("port * " + larger, port * side, Bounds::simulated_beat);
  check_product("depth * window * " + larger, side * depth * window, Bounds::simulated_staging);
  check_product("a_buffer", a_buffer_bytes, Bounds::simulated_buffer);
  check_product("b_buffer", b_buffer_bytes, Bounds::simulated_buffer);
}

}  // namespace mantissa
