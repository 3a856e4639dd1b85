// The arrays' cycles against the closed form: tiles one after the other, with room for their outputs at once
// or later. Lockstep shows that the RTL takes the same cycles as these SystemC units.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "models/array/tile_steps.hpp"
#include "sim/units/array_unit.hpp"
#include "sim/units/skip_window.hpp"
#include "sim/units/unit_configs.hpp"

namespace mantissa {
namespace {

using sc_core::sc_signal;

UnitParameters float_array(int rows, int cols, int depth, int port, int quantizer_stages) {
  return {{"Rows", rows},   {"Cols", cols},   {"Window", 16},   {"Depth", depth},
          {"Port", port},   {"AExp", 5},      {"AMan", 2},      {"ABias", 15},
          {"ASpecials", 0}, {"BExp", 5},      {"BMan", 2},      {"BBias", 15},
          {"BSpecials", 0}, {"AccExp", 8},    {"AccMan", 23},   {"CExp", 5},
          {"CMan", 2},      {"CBias", 15},    {"CSpecials", 0}, {"CRound", 0},
          {"CRndBits", 0},  {"CSaturate", 0}, {"Leap", 16},     {"QuantStages", quantizer_stages}};
}

UnitParameters int_array(int rows, int cols, int depth, int port, int drain_stages, int a_bits) {
  return {{"Rows", rows},   {"Cols", cols},  {"Window", 16},
          {"Depth", depth}, {"Port", port},  {"ABits", a_bits},
          {"BBits", 8},     {"AccBits", 48}, {"DrainStages", drain_stages}};
}

struct OneTile {
  int m = 0;
  int k = 0;
  int step_k = 0;
  bool skip = true;
  std::vector<std::uint8_t> nonzero;  // elements of A[m, k]
  std::uint64_t room = 0;             // cycles from the tile's start until there is room for its outputs
};

// Drives one array at full speed and notes when each tile has left it.
class Driver : public sc_core::sc_module {
 public:
  // Elements of A are these two codes.
  Driver(const sc_core::sc_module_name& name, std::unique_ptr<ArrayUnit> unit, const SkipWindow& window,
         int pipe_latency, std::vector<OneTile> tiles, std::uint64_t zero, std::uint64_t one)
      : sc_module(name),
        window_(window),
        pipe_latency_(pipe_latency),
        tiles_(std::move(tiles)),
        zero_(zero),
        one_(one),
        unit_(std::move(unit)) {
    unit_->clk_i.bind(clk_);
    unit_->rst_ni.bind(rst_n_);
    unit_->valid_i.bind(valid_);
    unit_->ready_i.bind(ready_);
    unit_->ready_o.bind(unit_ready_);
    unit_->valid_o.bind(unit_valid_);
    for (DataIn* port : unit_->inputs()) port->bind(*data_.emplace_back(signal(port->width())));
    for (DataOut* port : unit_->outputs()) port->bind(*data_.emplace_back(signal(port->width())));
    SC_HAS_PROCESS(Driver);
    SC_THREAD(run);
  }

  const SkipWindow& window() const { return window_; }
  int pipe_latency() const { return pipe_latency_; }
  const std::vector<OneTile>& tiles() const { return tiles_; }
  std::vector<std::uint64_t> cycles;  // per tile, from its first beat to its last row

 private:
  static std::unique_ptr<sc_signal<Bits>> signal(int width) {
    return std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("data"), Bits(width));
  }
  void tick() {
    sc_core::wait(1, sc_core::SC_NS);
    clk_.write(true);
    sc_core::wait(1, sc_core::SC_NS);
    clk_.write(false);
  }

  void run() {
    tick();
    rst_n_.write(true);
    for (const OneTile& tile : tiles_) run_tile(tile);
  }

  void run_tile(const OneTile& tile) {
    std::uint64_t cycle = 0;
    int fed = 0;
    for (int rows = 0; rows < window_.rows; ++cycle) {
      const int slices = fed < tile.k ? offer(tile, fed) : 0;
      valid_.write(slices > 0);
      ready_.write(cycle >= tile.room + pipe_latency_);
      sc_core::wait(1, sc_core::SC_NS);
      if (slices > 0 && unit_ready_.read()) fed += slices;
      if (unit_valid_.read() && ready_.read()) ++rows;
      tick();
    }
    cycles.push_back(cycle);
  }

  int offer(const OneTile& tile, int fed) {
    const int in_step = fed % tile.step_k;
    const int slices = std::min(
        {window_.port, window_.window - in_step % window_.window, tile.step_k - in_step, tile.k - fed});
    Bits a(data_[0]->read().width());
    const int bits = a.width() / (window_.port * window_.rows);
    Bits used(window_.rows);
    for (int row = 0; row < tile.m; ++row) {
      used.set_field(row, 1, 1);
      for (int slice = 0; slice < slices; ++slice) {
        const bool nonzero = tile.nonzero[row * tile.k + fed + slice] != 0;
        a.set_field(bits * (slice * window_.rows + row), bits, nonzero ? one_ : zero_);
      }
    }
    const bool ends_tile = fed + slices == tile.k;
    const bool ends_step = ends_tile || (fed + slices) % tile.step_k == 0;
    data_[0]->write(a);
    data_[2]->write(Bits(slice_count_bits(window_), slices));
    data_[3]->write(used);
    data_[4]->write(Bits(1, tile.skip ? 1 : 0));
    data_[5]->write(Bits(1, ends_step ? 1 : 0));
    data_[6]->write(Bits(1, ends_tile ? 1 : 0));
    return slices;
  }

  SkipWindow window_;
  int pipe_latency_;
  std::vector<OneTile> tiles_;
  std::uint64_t zero_;
  std::uint64_t one_;
  std::unique_ptr<ArrayUnit> unit_;
  sc_signal<bool> clk_;
  sc_signal<bool> rst_n_;
  sc_signal<bool> valid_;
  sc_signal<bool> ready_;
  sc_signal<bool> unit_ready_;
  sc_signal<bool> unit_valid_;
  std::vector<std::unique_ptr<sc_signal<Bits>>> data_;
};

std::vector<OneTile> random_tiles(std::mt19937_64& engine, int rows) {
  std::vector<OneTile> tiles;
  for (int i = 0; i < 30; ++i) {
    OneTile tile;
    tile.m = engine() % 3 == 0 ? static_cast<int>(engine() % (rows + 1)) : rows;
    tile.k = 1 + static_cast<int>(engine() % 120);
    tile.step_k = engine() % 2 == 0 ? tile.k : 16 * (1 + static_cast<int>(engine() % 3));
    tile.skip = engine() % 4 != 0;
    std::bernoulli_distribution nonzero(static_cast<double>(engine() % 11) / 10);
    tile.nonzero.resize(static_cast<std::size_t>(tile.m) * tile.k);
    for (std::uint8_t& element : tile.nonzero) element = nonzero(engine) ? 1 : 0;
    tile.room = engine() % 2 == 0 ? 0 : engine() % 200;
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

std::unique_ptr<Driver> driver_of(std::unique_ptr<ArrayUnit> unit, const SkipWindow& window, int pipe_latency,
                                  std::mt19937_64& engine, std::uint64_t zero, std::uint64_t one) {
  return std::make_unique<Driver>(sc_core::sc_gen_unique_name("driver"), std::move(unit), window,
                                  pipe_latency, random_tiles(engine, window.rows), zero, one);
}

void run(const std::vector<std::unique_ptr<Driver>>& drivers) {
  sc_core::sc_start();
  for (const auto& driver : drivers) {
    SkipWindow window = driver->window();
    const std::uint64_t drain = static_cast<std::uint64_t>(window.rows) + driver->pipe_latency();
    ASSERT_EQ(driver->cycles.size(), driver->tiles().size());
    for (std::size_t i = 0; i < driver->cycles.size(); ++i) {
      const OneTile& tile = driver->tiles()[i];
      window.skip = tile.skip;
      const std::uint64_t compute = compute_cycles(
          schedule_steps(window, {.m = tile.m, .k = tile.k, .step_k = tile.step_k}, tile.nonzero));
      EXPECT_EQ(driver->cycles[i], std::max(compute, tile.room) + drain)
          << window.rows << " rows, depth " << window.depth << ", port " << window.port << ", tile " << i;
    }
  }
}

// All arrays of a kind in one test: the SystemC kernel elaborates once per process.
TEST(MacArrayTime, ComputeAndDrainAsTheClosedForm) {
  std::mt19937_64 engine(23);
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const auto& [rows, cols] : {std::pair(4, 4), std::pair(4, 8), std::pair(8, 8), std::pair(16, 16)}) {
    for (const int depth : {1, 2, 4}) {
      for (const int port : {1, 3, 4, 16}) {
        const int stages = port == 3 ? 0 : 1;
        const UnitParameters parameters = float_array(rows, cols, depth, port, stages);
        drivers.push_back(driver_of(make_mac_array(sc_core::sc_gen_unique_name("unit"), parameters, {}),
                                    skip_window_config(parameters), 1 + stages, engine, 0x80, 0x3C));
      }
    }
  }
  run(drivers);
}

TEST(IntArrayTime, ComputeAndDrainAsTheClosedForm) {
  std::mt19937_64 engine(29);
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const auto& [rows, cols] : {std::pair(4, 4), std::pair(8, 8)}) {
    for (const int depth : {1, 2, 4}) {
      for (const int port : {1, 3, 4, 16}) {
        const int stages = port == 3 ? 0 : 1;
        const UnitParameters parameters = int_array(rows, cols, depth, port, stages, rows == 4 ? 16 : 8);
        drivers.push_back(driver_of(make_int_array(sc_core::sc_gen_unique_name("unit"), parameters, {}),
                                    skip_window_config(parameters), 1 + stages, engine, 0, 0x80));
      }
    }
  }
  run(drivers);
}

}  // namespace
}  // namespace mantissa
