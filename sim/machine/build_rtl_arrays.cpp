// Compiles the RTL that comes with a build into the cache of devices: the arrays of the fp8 recipe in the
// usual sizes, those of integers in the smallest, four of the second machine with their address generators,
// the units of batch norms and of weights. Others are compiled when they are first asked for.
#include <chrono>
#include <exception>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include "sim/machine/block_array_slot.hpp"
#include "sim/machine/lowering_slots.hpp"
#include "sim/machine/rtl_array.hpp"
#include "sim/machine/rtl_norm.hpp"
#include "sim/machine/statistics_lanes.hpp"
#include "sim/machine/update_lanes.hpp"

namespace mantissa {
namespace {

struct Build {
  int rows;
  int cols;
  Rounding drain = Rounding::rne();
  ElementType a = formats::e5m2;
  ElementType b = formats::e5m2;
};
// Of the second machine.
struct BlockBuild {
  int rows;
  int cols;
  int depth;
  int port;
  int sum_rows;
  ElementType a = formats::e5m2;
  ElementType b = formats::e5m2;
};
constexpr BlockBuild block_builds[] = {{4, 4, 2, 4, 1},
                                       {4, 8, 1, 1, 3},
                                       {4, 4, 2, 4, 1, ElementType::integer(8), ElementType::integer(8)},
                                       {4, 4, 2, 4, 3, ElementType::integer(16), ElementType::integer(8)}};
constexpr NormDirection norm_units[] = {NormDirection::backward, NormDirection::forward};
constexpr Rounding updates[] = {Rounding::rne(), Rounding::sr(13)};

constexpr Build builds[] = {{16, 16, Rounding::rne()},
                            {16, 16, Rounding::sr(16)},
                            {8, 8, Rounding::rne()},
                            {8, 8, Rounding::sr(16)},
                            {4, 8, Rounding::rne()},
                            {4, 8, Rounding::sr(16)},
                            {4, 4, Rounding::rne()},
                            {4, 4, Rounding::sr(16)},
                            {4, 4, Rounding::rne(), ElementType::integer(8), ElementType::integer(8)},
                            {4, 4, Rounding::rne(), ElementType::integer(16), ElementType::integer(8)}};

std::string build_array(const Build& build) {
  Architecture arch;
  arch.rows = build.rows;
  arch.cols = build.cols;
  const ArrayFormats formats{.a = build.a, .b = build.b, .c_rounding = build.drain};
  compile_array(arch, formats);
  std::ostringstream text;
  text << array_name(formats) << " " << arch.rows << " x " << arch.cols << ", ";
  if (formats.integers()) {
    text << build.a.bits() << " x " << build.b.bits() << " bits";
  } else {
    text << "drain " << build.drain.name();
  }
  return text.str();
}

std::string build_block_array(const BlockBuild& build) {
  Architecture arch;
  arch.rows = build.rows;
  arch.cols = build.cols;
  arch.window = 4;
  arch.depth = build.depth;
  arch.port = build.port;
  arch.sum_rows = build.sum_rows;
  const ArrayFormats formats{.a = build.a, .b = build.b};
  compile_block_array(arch, formats);
  compile_lowering_unit(arch, arch.rows);
  compile_lowering_unit(arch, arch.cols);
  std::ostringstream text;
  text << block_array_name(formats) << " " << arch.rows << " x " << arch.cols
       << " with its address generators";
  return text.str();
}

std::string build_norm_unit(NormDirection direction) {
  compile_norm_unit(direction, norm_index_bits({}));
  return norm_unit_name(direction);
}

std::string build_update_unit(Rounding rounding) {
  compile_update_unit(rounding);
  return "weight_update, " + rounding.name();
}

// The arrays, those of blocks, the batch norm units, those of weights, and the one behind a drain.
constexpr std::size_t things =
    std::size(builds) + std::size(block_builds) + std::size(norm_units) + std::size(updates) + 1;

std::string build_thing(std::size_t index) {
  if (index < std::size(builds)) return build_array(builds[index]);
  index -= std::size(builds);
  if (index < std::size(block_builds)) return build_block_array(block_builds[index]);
  index -= std::size(block_builds);
  if (index < std::size(norm_units)) return build_norm_unit(norm_units[index]);
  index -= std::size(norm_units);
  if (index < std::size(updates)) return build_update_unit(updates[index]);
  compile_statistics_unit({});
  return "norm_statistics";
}

std::string build_one(std::size_t index) {
  const auto start = std::chrono::steady_clock::now();
  std::ostringstream text;
  text << build_thing(index);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  text << ": " << std::fixed << std::setprecision(1) << seconds.count() << " s\n";
  return text.str();
}

// One after the other: this is one job of a build that runs as many as there are cores.
void build_all() {
  for (std::size_t i = 0; i < things; ++i) std::cout << build_one(i) << std::flush;
}

}  // namespace
}  // namespace mantissa

int main() {
  try {
    mantissa::build_all();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "build_rtl_arrays: " << error.what() << '\n';
    return 1;
  }
}
