#include "testbench/arch/cycle_walk.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>

namespace mantissa::test {
namespace {

using Count = std::int64_t;

Count packed(Count elements, int bits) {
  return (elements * bits) / 8 + ((elements * bits) % 8 != 0 ? 1 : 0);
}

struct Step {
  Count tile = 0;
  Count first_row = 0;  // of A
  Count rows = 0;       // in use
  Count cols = 0;
  Count first_k = 0;
  Count k = 0;
  bool opens = false;
  bool closes = false;
};

// The array at work on one step: port, staging slots, rows.
class ArrayAtWork {
 public:
  ArrayAtWork(const Architecture& arch, bool skip, const Step& step, const std::vector<std::string>& a)
      : arch_(arch), skip_(skip), step_(step), a_(a), rows_(arch.rows) {}

  bool done() const {
    return std::all_of(rows_.begin(), rows_.end(),
                       [this](const Row& row) { return row.window == windows(); });
  }

  // One cycle; returns how many elements of A were taken by rows in use.
  Count tick() {
    // What port and rows see is how things were when the cycle began.
    Count slowest = windows();
    for (const Row& row : rows_) slowest = std::min(slowest, row.window);
    const bool slot_is_free = staging_ < windows() && staging_ - slowest < arch_.depth;
    const Count readable = staging_;  // windows before it are complete
    Count taken = 0;
    for (Count r = 0; r < arch_.rows; ++r) {
      if (rows_[r].window < readable) taken += work(r);
    }
    if (slot_is_free) {
      slices_ += arch_.port;
      if (slices_ >= length(staging_)) {
        ++staging_;
        slices_ = 0;
      }
    }
    return taken;
  }

 private:
  struct Row {
    Count window = 0;
    Count k = 0;  // within the window: everything before it is settled
  };

  Count windows() const { return step_.k / arch_.window + (step_.k % arch_.window != 0 ? 1 : 0); }
  Count length(Count window) const { return std::min<Count>(arch_.window, step_.k - window * arch_.window); }
  bool present(Count r, Count window, Count k) const {
    if (!skip_) return true;
    return r < step_.rows && a_[step_.first_row + r][step_.first_k + window * arch_.window + k] == '1';
  }

  Count work(Count r) {
    Row& row = rows_[r];
    const Count end = length(row.window);
    const auto next = [&] {
      while (row.k < end && !present(r, row.window, row.k)) ++row.k;
    };
    next();
    Count taken = 0;
    if (row.k < end) {
      taken = r < step_.rows ? 1 : 0;
      ++row.k;
      next();
    }
    if (row.k == end) {
      ++row.window;
      row.k = 0;
    }
    return taken;
  }

  const Architecture& arch_;
  bool skip_;
  Step step_;
  const std::vector<std::string>& a_;
  std::vector<Row> rows_;
  Count staging_ = 0;  // window that the port fills
  Count slices_ = 0;   // of it that are there
};

struct Transfer {
  enum class Kind { load, write_back } kind = Kind::load;
  Count of = 0;  // step or tile
  Count bytes = 0;
  Count cycles_left = 0;
};

enum class Drain { not_yet, begun, done };

class Machine {
 public:
  Machine(const Architecture& arch, const GemmShape& shape, bool skip, const std::vector<std::string>& a)
      : arch_(arch), shape_(shape), skip_(skip), a_(a) {
    plan();
  }

  GemmCycles run() {
    for (Count guard = 0; !finished(); ++guard) {
      if (guard > 50'000'000) throw std::logic_error("the machine does not stop");
      start_what_can_start();
      name_this_cycle();
      pass_one_cycle();
    }
    cost_.sram_bytes = cost_.dram_bytes +
                       static_cast<std::uint64_t>(packed(static_cast<Count>(cost_.a_taken), shape_.a_bits) +
                                                  packed(static_cast<Count>(cost_.b_staged), shape_.b_bits) +
                                                  packed(static_cast<Count>(cost_.drained), shape_.c_bits));
    cost_.dram_bytes_unique = static_cast<std::uint64_t>(packed(shape_.m * shape_.k, shape_.a_bits) +
                                                         packed(shape_.k * shape_.n, shape_.b_bits) +
                                                         packed(shape_.m * shape_.n, shape_.c_bits));
    cost_.skipped = static_cast<std::uint64_t>(shape_.m * shape_.n * shape_.k) - cost_.macs;
    cost_.steps = steps_.size();
    cost_.tiles = drains_.size();
    return cost_;
  }

 private:
  // The list of steps, and the DMA's list of transfers, as the text has them.
  void plan() {
    const Count half_a = arch_.a_buffer_bytes / 2;
    const Count half_b = arch_.b_buffer_bytes / 2;
    const bool a_fits = packed(arch_.rows * shape_.k, shape_.a_bits) <= half_a;
    const bool b_fits = packed(shape_.k * arch_.cols, shape_.b_bits) <= half_b;
    const bool b_stays = packed(shape_.k * shape_.n, shape_.b_bits) <= arch_.b_buffer_bytes;
    Count segment = shape_.k;
    if (!a_fits || !b_fits) {
      Count fit = 0;  // windows, one more as long as both operands fit
      while ((fit + 1) * packed(Count{arch_.rows} * arch_.window, shape_.a_bits) <= half_a &&
             (fit + 1) * packed(Count{arch_.window} * arch_.cols, shape_.b_bits) <= half_b) {
        ++fit;
      }
      if (fit == 0) throw std::invalid_argument("refused");
      segment = fit * arch_.window;
    }
    Count tile = 0;
    Count c_bytes = 0;
    for (Count row = 0; row < shape_.m; row += arch_.rows) {
      for (Count col = 0; col < shape_.n; col += arch_.cols, ++tile) {
        for (Count k = 0; k < shape_.k; k += segment) {
          const Step step{.tile = tile,
                          .first_row = row,
                          .rows = std::min<Count>(arch_.rows, shape_.m - row),
                          .cols = std::min<Count>(arch_.cols, shape_.n - col),
                          .first_k = k,
                          .k = std::min(segment, shape_.k - k),
                          .opens = k == 0,
                          .closes = k + segment >= shape_.k};
          const auto i = static_cast<Count>(steps_.size());
          if (!a_fits || col == 0) queue(Transfer::Kind::load, i, packed(step.rows * step.k, shape_.a_bits));
          if (!b_stays || row == 0) queue(Transfer::Kind::load, i, packed(step.k * step.cols, shape_.b_bits));
          if (step.opens && tile > 0) queue(Transfer::Kind::write_back, tile - 1, c_bytes);
          steps_.push_back(step);
          cost_.b_staged += static_cast<std::uint64_t>(step.k * step.cols);
        }
        c_bytes = packed(steps_.back().rows * steps_.back().cols, shape_.c_bits);
        cost_.drained += static_cast<std::uint64_t>(steps_.back().rows * steps_.back().cols);
      }
    }
    queue(Transfer::Kind::write_back, tile - 1, c_bytes);
    drains_.assign(tile, Drain::not_yet);
    tiles_computed_.assign(tile, false);
    tiles_written_.assign(tile, false);
  }

  void queue(Transfer::Kind kind, Count of, Count bytes) {
    Count bursts = 0;
    for (Count left = bytes; left > 0; left -= arch_.dram_burst_bytes) ++bursts;
    const Count cycles = arch_.dram_latency_cycles + arch_.dram_burst_cycles.times(bursts);
    transfers_.push_back({kind, of, bytes, cycles});
    cost_.dram_bytes += static_cast<std::uint64_t>(bytes);
  }

  Count step_count() const { return static_cast<Count>(steps_.size()); }
  bool finished() const { return transfers_.empty() && steps_started_ == step_count() && !at_work_; }

  bool drained(Count tile) const { return tile < 0 || drains_[tile] == Drain::done; }
  Count accumulators_of(Count tile) const { return tile - (arch_.acc_double_buffer ? 2 : 1); }

  bool accumulators_free() const {
    const Step& next = steps_[steps_started_];
    return !next.opens || drained(accumulators_of(next.tile));
  }
  bool loaded(Count step) const {
    return std::none_of(transfers_.begin(), transfers_.end(),
                        [step](const Transfer& t) { return t.kind == Transfer::Kind::load && t.of == step; });
  }

  void start_what_can_start() {
    if (!at_work_ && steps_started_ < step_count() && loaded(steps_started_) && accumulators_free()) {
      at_work_.emplace(arch_, skip_, steps_[steps_started_], a_);
      ++steps_started_;
    }
    for (Count tile = 0; tile < static_cast<Count>(drains_.size()); ++tile) {
      if (drains_[tile] != Drain::not_yet || !tiles_computed_[tile]) continue;
      if (!drained(tile - 1) || (tile >= 2 && !tiles_written_[tile - 2])) break;
      drains_[tile] = Drain::begun;
      drain_left_ = arch_.rows + arch_.pipe_latency;
      break;
    }
    if (!transfers_.empty() && !dma_busy_) {
      const Transfer& next = transfers_.front();
      dma_busy_ = next.kind == Transfer::Kind::load ? next.of == 0 || steps_started_ >= next.of
                                                    : drains_[next.of] == Drain::done;
    }
  }

  void name_this_cycle() {
    if (at_work_) {
      ++cost_.compute;
      return;
    }
    const bool none_left = steps_started_ == step_count();
    if (none_left ? drains_.back() != Drain::done : !accumulators_free()) {
      const auto oldest =
          std::find_if(drains_.begin(), drains_.end(), [](Drain d) { return d != Drain::done; });
      ++(*oldest == Drain::begun ? cost_.stall_drain : cost_.stall_write_back);
    } else if (transfers_.front().kind == Transfer::Kind::write_back) {
      ++cost_.stall_write_back;
    } else {
      ++cost_.stall_load;
    }
  }

  void pass_one_cycle() {
    if (at_work_) {
      const Step& step = steps_[steps_started_ - 1];
      const auto taken = static_cast<std::uint64_t>(at_work_->tick());
      cost_.a_taken += taken;
      cost_.macs += taken * static_cast<std::uint64_t>(step.cols);
      if (at_work_->done()) {
        at_work_.reset();
        if (step.closes) tiles_computed_[step.tile] = true;
      }
    }
    const auto draining = std::find(drains_.begin(), drains_.end(), Drain::begun);
    if (draining != drains_.end() && --drain_left_ == 0) *draining = Drain::done;
    if (dma_busy_ && --transfers_.front().cycles_left == 0) {
      if (transfers_.front().kind == Transfer::Kind::write_back) tiles_written_[transfers_.front().of] = true;
      transfers_.pop_front();
      dma_busy_ = false;
    }
  }

  const Architecture& arch_;
  const GemmShape& shape_;
  bool skip_;
  const std::vector<std::string>& a_;
  std::vector<Step> steps_;
  std::deque<Transfer> transfers_;  // not finished, in order
  std::vector<Drain> drains_;       // per tile
  std::vector<bool> tiles_computed_;
  std::vector<bool> tiles_written_;
  Count steps_started_ = 0;
  std::optional<ArrayAtWork> at_work_;
  Count drain_left_ = 0;
  bool dma_busy_ = false;
  GemmCycles cost_;
};

}  // namespace

GemmCycles walk_every_cycle(const Architecture& arch, const GemmShape& shape, bool skip,
                            const std::vector<std::string>& a_nonzero) {
  return Machine(arch, shape, skip, a_nonzero).run();
}

}  // namespace mantissa::test
