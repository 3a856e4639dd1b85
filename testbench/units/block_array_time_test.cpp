// block_array against the text alone: times by "Skip" and "Two sets of accumulators" written out once more,
// sums by one FMA after the other. Lockstep shows that the RTL does the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "sim/units/operand_array.hpp"
#include "sim/units/skip_window.hpp"

namespace mantissa {
namespace {

using sc_core::sc_signal;
using Codes = std::vector<std::uint8_t>;
using Sums = std::vector<std::uint32_t>;  // of the whole array, row-major

struct Size {
  int rows;
  int cols;
  int window;
  int depth;
  int port;
  int sum_rows;
};

struct Run {
  int k = 0;
  bool skip = true;
  std::vector<bool> used;  // rows
  std::vector<bool> cols;
  Codes a;  // [k, rows]
  Codes b;  // [k, cols]
};

struct TestTile {
  std::vector<Run> runs;
  std::uint64_t not_before = 0;  // the cycle in which its first beat is offered
};

// What the array has on its port in a cycle, and takes.
struct PortCycle {
  std::uint64_t cycle = 0;
  Sums sums;  // of sum_rows rows
  bool last = false;
  bool suppressed = false;
  bool load = false;
  Sums loaded;
};

// ------------------------------------------------------------------------------------------------- the
// oracle

float value_of(std::uint8_t e5m2) {
  const int exponent = e5m2 >> 2 & 31;
  const int mantissa = e5m2 & 3;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude =
        mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else {
    magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -16)
                              : std::ldexp(static_cast<float>(4 + mantissa), exponent - 17);
  }
  return (e5m2 & 0x80) != 0 ? -magnitude : magnitude;
}

bool zero(std::uint8_t e5m2) { return (e5m2 & 0x7F) == 0; }
bool inf_or_nan(std::uint8_t e5m2) { return (e5m2 & 0x7C) == 0x7C; }

// T of the last window: "Skip", with empty staging.
std::uint64_t time_of(const Size& size, const Run& run) {
  const int windows = (run.k + size.window - 1) / size.window;
  std::uint64_t loaded = 0;
  std::vector<std::vector<std::uint64_t>> done(windows, std::vector<std::uint64_t>(size.rows));
  for (int w = 0; w < windows; ++w) {
    const int first = w * size.window;
    const int length = std::min(size.window, run.k - first);
    std::uint64_t free = 0;
    if (w >= size.depth) free = *std::max_element(done[w - size.depth].begin(), done[w - size.depth].end());
    loaded = std::max(loaded, free) + (length + size.port - 1) / size.port;
    for (int row = 0; row < size.rows; ++row) {
      std::uint64_t takes = run.skip ? 0 : length;
      for (int i = first; run.skip && run.used[row] && i < first + length; ++i)
        takes += zero(run.a[i * size.rows + row]) ? 0 : 1;
      done[w][row] = std::max(w > 0 ? done[w - 1][row] : 0, loaded) + std::max<std::uint64_t>(1, takes);
    }
  }
  return *std::max_element(done.back().begin(), done.back().end());
}

// The sums of a run, added; true: something was suppressed.
bool add_run(const Size& size, const Run& run, Sums& sums) {
  bool suppressed = false;
  for (int row = 0; row < size.rows; ++row) {
    for (int col = 0; col < size.cols; ++col) {
      if (!run.used[row] || !run.cols[col]) continue;
      std::uint32_t& sum = sums[row * size.cols + col];
      for (int k = 0; k < run.k; ++k) {
        const std::uint8_t a = run.a[k * size.rows + row];
        const std::uint8_t b = run.b[k * size.cols + col];
        if (run.skip && zero(a)) {
          suppressed = suppressed || inf_or_nan(b);
          continue;
        }
        const float next = std::fma(value_of(a), value_of(b), std::bit_cast<float>(sum));
        sum = std::isnan(next) ? 0x7FC00000 : next == 0 ? 0 : std::bit_cast<std::uint32_t>(next);
      }
    }
  }
  return suppressed;
}

// ------------------------------------------------------------------------------------------------- the
// driver

UnitParameters parameters_of(const Size& size) {
  return {{"Rows", size.rows},
          {"Cols", size.cols},
          {"Window", size.window},
          {"Depth", size.depth},
          {"Port", size.port},
          {"AExp", 5},
          {"AMan", 2},
          {"ABias", 15},
          {"ASpecials", 0},
          {"BExp", 5},
          {"BMan", 2},
          {"BBias", 15},
          {"BSpecials", 0},
          {"AccExp", 8},
          {"AccMan", 23},
          {"SumRows", size.sum_rows}};
}

class Driver : public sc_core::sc_module {
 public:
  Driver(const sc_core::sc_module_name& name, const Size& size, std::vector<TestTile> tiles,
         std::uint64_t seed)
      : sc_module(name),
        size_(size),
        tiles_(std::move(tiles)),
        engine_(seed),
        unit_(make_block_array_unit("unit", parameters_of(size))) {
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

  const Size& size() const { return size_; }
  const std::vector<TestTile>& tiles() const { return tiles_; }
  std::vector<PortCycle> seen;

 private:
  enum Port : std::uint8_t { a, b, count, used, skip, last, cols, swap, load, sum, sum_out, last_out, flag };

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
    std::size_t tile = 0;
    std::size_t run = 0;
    int fed = 0;
    std::uint64_t quiet = 0;
    // After the last beat the rows work on all that is staged.
    const std::uint64_t silence = 8 + static_cast<std::uint64_t>(size_.depth) * size_.window;
    for (std::uint64_t cycle = 0; quiet < silence || tile < tiles_.size(); ++cycle) {
      const bool offers = tile < tiles_.size() && (run + fed > 0 || cycle >= tiles_[tile].not_before);
      const int slices = offers ? offer(tiles_[tile], run, fed) : 0;
      valid_.write(offers);
      const Sums loaded = offer_sums();
      sc_core::wait(1, sc_core::SC_NS);
      if (unit_valid_.read()) look(cycle, loaded);
      const bool taken = offers && unit_ready_.read();
      if (taken) fed += slices;
      if (taken && fed == tiles_[tile].runs[run].k) {
        fed = 0;
        if (++run == tiles_[tile].runs.size()) {
          run = 0;
          ++tile;
        }
      }
      quiet = unit_valid_.read() || taken ? 0 : quiet + 1;
      tick();
      if (cycle > 1000000) return;  // what is missing shows
    }
  }

  int offer(const TestTile& tile, std::size_t number, int fed) {
    const Run& run = tile.runs[number];
    const int slices = std::min({size_.port, size_.window - fed % size_.window, run.k - fed});
    Bits a_bits(data_[Port::a]->read().width());
    Bits b_bits(data_[Port::b]->read().width());
    const auto part = [fed, slices](const Codes& codes, std::size_t width) {
      return std::span(codes).subspan(fed * width, slices * width);
    };
    a_bits.set_fields(0, 8, part(run.a, size_.rows));
    b_bits.set_fields(0, 8, part(run.b, size_.cols));
    data_[Port::a]->write(a_bits);
    data_[Port::b]->write(b_bits);
    data_[Port::count]->write(Bits(data_[Port::count]->read().width(), slices));
    data_[Port::used]->write(mask(run.used));
    data_[Port::cols]->write(mask(run.cols));
    const bool ends = fed + slices == run.k;
    data_[Port::skip]->write(Bits(1, run.skip ? 1 : 0));
    data_[Port::last]->write(Bits(1, ends ? 1 : 0));
    data_[Port::swap]->write(Bits(1, !ends || number + 1 == tile.runs.size() ? 1 : 0));
    return slices;
  }

  // Others in every cycle.
  Sums offer_sums() {
    const int elements = size_.sum_rows * size_.cols;
    Bits bits(32 * elements);
    Sums sums(elements);
    for (int i = 0; i < elements; ++i) {
      sums[i] = std::bit_cast<std::uint32_t>(static_cast<float>(engine_() % 2000) - 1000);
      if (sums[i] == 0x80000000) sums[i] = 0;
      bits.set_field(32 * i, 32, sums[i]);
    }
    data_[Port::sum]->write(bits);
    data_[Port::load]->write(Bits(1, engine_() % 2));
    return sums;
  }

  void look(std::uint64_t cycle, const Sums& loaded) {
    PortCycle now{.cycle = cycle,
                  .sums = {},
                  .last = data_[Port::last_out]->read().value() != 0,
                  .suppressed = data_[Port::flag]->read().value() != 0,
                  .load = data_[Port::load]->read().value() != 0,
                  .loaded = loaded};
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      now.sums.push_back(
          static_cast<std::uint32_t>(data_[Port::sum_out]->read().field(static_cast<int>(32 * i), 32)));
    }
    seen.push_back(std::move(now));
  }

  static Bits mask(const std::vector<bool>& bits) {
    Bits result(static_cast<int>(bits.size()));
    for (std::size_t i = 0; i < bits.size(); ++i) result.set_field(static_cast<int>(i), 1, bits[i] ? 1 : 0);
    return result;
  }

  Size size_;
  std::vector<TestTile> tiles_;
  std::mt19937_64 engine_;
  std::unique_ptr<OperandArray> unit_;
  sc_signal<bool> clk_;
  sc_signal<bool> rst_n_;
  sc_signal<bool> valid_;
  sc_signal<bool> ready_;
  sc_signal<bool> unit_ready_;
  sc_signal<bool> unit_valid_;
  std::vector<std::unique_ptr<sc_signal<Bits>>> data_;
};

// --------------------------------------------------------------------------------------------------- the
// test

// All, none, a part side by side, or any.
std::vector<bool> random_mask(std::mt19937_64& engine, int size) {
  std::vector<bool> mask(size, true);
  const auto kind = engine() % 8;
  const int first = static_cast<int>(engine() % size);
  const int end = static_cast<int>(engine() % (size + 1));
  for (int i = 0; i < size; ++i) {
    if (kind == 0) mask[i] = engine() % 2 == 0;
    if (kind == 1) mask[i] = i >= first && i < end;
    if (kind == 2) mask[i] = i < end;
  }
  return mask;
}

Run random_run(std::mt19937_64& engine, const Size& size) {
  Run run;
  run.k = 1 + static_cast<int>(engine() % (engine() % 2 == 0 ? 4 : 70));
  run.skip = engine() % 4 != 0;
  run.used = random_mask(engine, size.rows);
  run.cols = random_mask(engine, size.cols);
  run.a.resize(static_cast<std::size_t>(run.k) * size.rows);
  run.b.resize(static_cast<std::size_t>(run.k) * size.cols);
  const auto density = engine() % 11;
  for (std::uint8_t& code : run.a) {
    code = static_cast<std::uint8_t>(engine() % 10 < density ? engine() % 0x3C + 0x30 : (engine() & 1) << 7);
    if (engine() % 2 == 0) code ^= 0x80;
  }
  const bool specials = engine() % 8 == 0;
  for (std::uint8_t& code : run.b) {
    code = static_cast<std::uint8_t>(engine());
    if (inf_or_nan(code) && !(specials && engine() % 4 == 0)) code &= 0xBF;
  }
  return run;
}

std::vector<TestTile> random_tiles(std::mt19937_64& engine, const Size& size) {
  std::vector<TestTile> tiles(60);
  std::uint64_t cycle = 0;
  for (TestTile& tile : tiles) {
    for (auto runs = 1 + engine() % 3; runs > 0; --runs) tile.runs.push_back(random_run(engine, size));
    cycle += engine() % 60;
    if (engine() % 3 == 0) tile.not_before = cycle;
  }
  return tiles;
}

void check(const Driver& driver) {
  const Size& size = driver.size();
  const int cycles = (size.rows + size.sum_rows - 1) / size.sum_rows;  // R
  const std::size_t all = static_cast<std::size_t>(size.rows) * size.cols;
  ASSERT_EQ(driver.seen.size(), driver.tiles().size() * cycles);
  std::array<Sums, 2> sets = {Sums(all, 0), Sums(all, 0)};
  std::uint64_t before = 0;  // X(j - 1)
  const PortCycle* seen = driver.seen.data();
  for (std::size_t j = 0; j < driver.tiles().size(); ++j) {
    const TestTile& tile = driver.tiles()[j];
    std::uint64_t end = std::max(before, tile.not_before);
    bool suppressed = false;
    for (const Run& run : tile.runs) {
      end += time_of(size, run);
      suppressed = add_run(size, run, sets[j % 2]) || suppressed;
    }
    const std::uint64_t change = j == 0 ? end : std::max(end, before + cycles + 1);
    before = change;
    for (int i = 0; i < cycles; ++i, ++seen) {
      EXPECT_EQ(seen->cycle, change + 2 + i) << "tile " << j;
      EXPECT_EQ(seen->last, i + 1 == cycles);
      EXPECT_EQ(seen->suppressed, suppressed);
      for (std::size_t place = 0; place < seen->sums.size(); ++place) {
        const std::size_t element = static_cast<std::size_t>(i) * size.sum_rows * size.cols + place;
        ASSERT_EQ(seen->sums[place], element < all ? sets[j % 2][element] : 0)
            << "tile " << j << ", sum " << element;
        if (element < all) sets[j % 2][element] = seen->load ? seen->loaded[place] : 0;
      }
    }
  }
}

// All arrays in one test: the SystemC kernel elaborates once per process.
TEST(BlockArrayTime, RunsAndExchangesAsTheText) {
  std::mt19937_64 engine(31);
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const Size& size :
       {Size{4, 4, 16, 2, 4, 1}, Size{4, 3, 8, 1, 3, 2}, Size{5, 2, 16, 4, 16, 2}, Size{8, 8, 16, 2, 4, 8},
        Size{16, 4, 16, 2, 8, 3}, Size{1, 1, 2, 2, 1, 1}, Size{16, 16, 16, 2, 4, 1}}) {
    drivers.push_back(std::make_unique<Driver>(sc_core::sc_gen_unique_name("driver"), size,
                                               random_tiles(engine, size), engine()));
  }
  sc_core::sc_start();
  for (const auto& driver : drivers) {
    SCOPED_TRACE(std::to_string(driver->size().rows) + " rows, " + std::to_string(driver->size().sum_rows) +
                 " in a cycle");
    check(*driver);
  }
}

}  // namespace
}  // namespace mantissa
