#include "sim/machine/gemm_controller.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/mac/int_mac.hpp"

namespace mantissa {

GemmController::GemmController(const MachineParts& parts, const ArrayJob& job)
    : parts_(parts),
      job_(job),
      plan_(parts.arch, shape_of(job, parts.formats)),
      shape_(plan_.shape()),
      a_beat_(parts.array.width(ArraySlot::a), parts.formats.a.bits()),
      b_beat_(parts.array.width(ArraySlot::b), parts.formats.b.bits()),
      counter_(parts.arch.pipe_latency) {
  check();
  if (parts.formats.integers()) dequantizer_.emplace(job);
  if (parts.formats.stochastic()) {
    for (int col = 0; col < parts.arch.cols; ++col) {
      const auto draws = static_cast<std::uint64_t>(job.first_tile) * parts.arch.rows;
      seeds_.push_back(job.draws.lane(col, draws).state());
    }
  }
  for (std::uint32_t code = 0; code < 256; ++code)
    a_zero_[code] = parts.formats.a.format().is_zero(code & parts.formats.a.format().code_mask());
  if (parts.array.systemc() != nullptr) elements_before_ = parts.array.systemc()->elements_taken();
  run_.flags.resize(job.m * job.n);
  parts_.dma.forget();
  parts_.a.resize(plan_.a_buffer_bytes());
  parts_.b.resize(plan_.b_buffer_bytes());
  parts_.c.resize(2 * plan_.c_half_bytes());
  fill_dram();
  feed_ = plan_.step(0);
  dma_planned_ = feed_;
  if (!transfer_exists()) next_transfer();
}

void GemmController::check() const {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument(what); };
  const auto fits = [](std::int64_t rows, std::int64_t cols, std::size_t size) {
    return static_cast<std::size_t>(rows * cols) == size;
  };
  const std::string size = "a GEMM of M " + std::to_string(job_.m) + ", N " + std::to_string(job_.n) +
                           ", K " + std::to_string(job_.k);
  if (job_.a.type() != parts_.formats.a || job_.b.type() != parts_.formats.b) {
    refuse("operands of " + job_.a.type().name() + " x " + job_.b.type().name() + " on an array of " +
           parts_.formats.a.name() + " x " + parts_.formats.b.name());
  }
  if (parts_.formats.integers()) {
    check_int_gemm({job_.m, job_.n, job_.k, job_.a.as<EncodedTensor::Integers>().matrix(),
                    job_.b.as<EncodedTensor::Integers>().matrix()},
                   static_cast<std::size_t>(job_.m * job_.n));
  } else if (!fits(job_.m, job_.k, job_.a.size()) || !fits(job_.k, job_.n, job_.b.size())) {
    refuse(size + " does not fit its operands");
  }
  if (!job_.bias.empty() && !fits(1, job_.n, job_.bias.size()))
    refuse(size + " has " + std::to_string(job_.bias.size()) + " biases; it takes one per column or none");
  if (job_.c_scale < -128 || job_.c_scale > 127)
    refuse("a drain quantizer has scales of -128..127, not " + std::to_string(job_.c_scale));
  if (shape_.a_bits < parts_.formats.a.bits() || shape_.b_bits < parts_.formats.b.bits() ||
      shape_.c_bits < parts_.formats.c_bits()) {
    refuse("an element has at least as many bits in memory as its format");
  }
  if (job_.first_tile < 0) refuse("tiles are numbered from 0");
  if (!parts_.formats.stochastic()) return;
  job_.draws.check();
  if (job_.draws.leap != parts_.formats.leap) {
    refuse("draws with a leap of " + std::to_string(job_.draws.leap) + " on an array whose generators leap " +
           std::to_string(parts_.formats.leap));
  }
}

// ---------------------------------------------------------------------------------------------------- DRAM

// Block by block, as the transfers will want it.
void GemmController::fill_dram() {
  parts_.dram.resize(plan_.dram_bytes());
  std::vector<std::uint8_t> block;
  for (std::int64_t i = 0; i < plan_.steps(); ++i) {
    const PlannedStep step = plan_.step(i);
    if (step.tile_col == 0) {
      block.assign(packed_bytes(step.rows * step.length, shape_.a_bits), 0);
      for (std::int64_t row = 0; row < step.rows; ++row) {
        const std::int64_t m = step.tile_row * parts_.arch.rows + row;
        for (std::int64_t k = 0; k < step.length; ++k) {
          set_packed_element(block, row * step.length + k, shape_.a_bits,
                             job_.a.element(m * job_.k + step.first_k + k));
        }
      }
      parts_.dma.host_write(plan_.a_address(step), block);
    }
    if (step.tile_row == 0) {
      block.assign(packed_bytes(step.length * step.cols, shape_.b_bits), 0);
      for (std::int64_t k = 0; k < step.length; ++k) {
        const std::int64_t first = (step.first_k + k) * job_.n + step.tile_col * parts_.arch.cols;
        for (std::int64_t col = 0; col < step.cols; ++col)
          set_packed_element(block, k * step.cols + col, shape_.b_bits, job_.b.element(first + col));
      }
      parts_.dma.host_write(plan_.b_address(step), block);
    }
  }
}

ArrayRun GemmController::result() const {
  ArrayRun run = run_;
  run.codes.resize(job_.m * job_.n);
  std::vector<std::uint8_t> block;
  for (std::int64_t i = 0; i < plan_.tiles(); ++i) {
    const GemmPlan::TilePlace tile = plan_.tile(i);
    block.resize(packed_bytes(tile.rows * tile.cols, shape_.c_bits));
    parts_.dma.host_read(plan_.c_address(i), block);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      for (std::int64_t col = 0; col < tile.cols; ++col) {
        run.codes[(tile.first_row + row) * job_.n + tile.first_col + col] =
            packed_element(block, row * tile.cols + col, shape_.c_bits);
      }
    }
  }
  GemmCycles& cycles = run.cycles;
  counter_.add_to(cycles);
  const auto bytes = [](std::uint64_t elements, int bits) { return (elements * bits + 7) / 8; };
  cycles.dram_bytes = parts_.dma.bytes_moved();
  cycles.dram_bytes_unique = static_cast<std::uint64_t>(packed_bytes(job_.m * job_.k, shape_.a_bits) +
                                                        packed_bytes(job_.k * job_.n, shape_.b_bits) +
                                                        packed_bytes(job_.m * job_.n, shape_.c_bits));
  cycles.sram_bytes = cycles.dram_bytes + bytes(cycles.a_taken, shape_.a_bits) +
                      bytes(cycles.b_staged, shape_.b_bits) + bytes(cycles.drained, shape_.c_bits);
  cycles.skipped = static_cast<std::uint64_t>(job_.m * job_.n * job_.k) - cycles.macs;
  cycles.tiles = static_cast<std::uint64_t>(drained_);
  cycles.steps = static_cast<std::uint64_t>(started_);
  if (cycles.cycles() != static_cast<std::uint64_t>(cycle_))
    throw std::logic_error("cycles that are neither compute nor a stall");
  const ArrayUnit* array = parts_.array.systemc();
  if (array != nullptr && array->elements_taken() - elements_before_ != cycles.a_taken)
    throw std::logic_error("the array has not taken what it was given");
  return run;
}

// ----------------------------------------------------------------------------------------------------- DMA

bool GemmController::transfer_exists() const {
  switch (dma_transfer_) {
    case Transfer::load_a:
      return dma_step_ < plan_.steps() && dma_planned_.loads_a;
    case Transfer::load_b:
      return dma_step_ < plan_.steps() && dma_planned_.loads_b;
    case Transfer::write_back:
      return plan_.opens_tile(dma_step_) && dma_step_ > 0;
  }
  return false;
}

void GemmController::next_transfer() {
  do {
    if (dma_transfer_ != Transfer::write_back) {
      dma_transfer_ = dma_transfer_ == Transfer::load_a ? Transfer::load_b : Transfer::write_back;
    } else {
      dma_transfer_ = Transfer::load_a;
      ++dma_step_;
      if (dma_step_ < plan_.steps()) dma_planned_ = plan_.step(dma_step_);
    }
  } while (!transfer_exists() && !finished());
}

// A load not before the start of the step before, a write-back not before its drain is done.
bool GemmController::transfer_may_start() const {
  if (dma_transfer_ == Transfer::write_back) return drained_ >= plan_.tile_of(dma_step_);
  return started_ >= dma_step_;
}

void GemmController::start_transfer() {
  const PlannedStep& step = dma_planned_;
  if (dma_transfer_ == Transfer::load_a) {
    parts_.dma.start_read(plan_.a_address(step), packed_bytes(step.rows * step.length, shape_.a_bits));
  } else if (dma_transfer_ == Transfer::load_b) {
    parts_.dma.start_read(plan_.b_address(step), packed_bytes(step.length * step.cols, shape_.b_bits));
  } else {
    const GemmPlan::TilePlace tile = plan_.tile(written_);
    parts_.dma.start_write(plan_.c_address(written_),
                           parts_.c.bytes(written_ % 2 * plan_.c_half_bytes(),
                                          packed_bytes(tile.rows * tile.cols, shape_.c_bits)));
  }
}

void GemmController::end_transfer() {
  const PlannedStep& step = dma_planned_;
  if (dma_transfer_ == Transfer::load_a) {
    parts_.a.store(step.a, shape_.a_bits, step.rows * step.length, parts_.dma.data());
  } else if (dma_transfer_ == Transfer::load_b) {
    parts_.b.store(step.b, shape_.b_bits, step.length * step.cols, parts_.dma.data());
  } else {
    written_at_[written_ % 2] = cycle_ + 1;
    ++written_;
  }
  if (!finished()) next_transfer();
}

void GemmController::clock_dma() {
  if (!parts_.dma.busy() && transfer_may_start()) start_transfer();
  if (parts_.dma.clock()) end_transfer();
}

bool GemmController::loaded(std::int64_t step, const PlannedStep& planned) const {
  if (!planned.loads_a && !planned.loads_b) return true;
  if (dma_step_ != step) return dma_step_ > step;
  return dma_transfer_ > (planned.loads_b ? Transfer::load_b : Transfer::load_a);
}

// ------------------------------------------------------------------------------------------------- feeding

// The next beat of the step, from the buffers to the array's inputs.
void GemmController::prepare_beat() {
  const Architecture& arch = parts_.arch;
  slices_ = static_cast<int>(
      std::min({std::int64_t{arch.port}, arch.window - fed_ % arch.window, feed_.length - fed_}));
  read_operands();

  const bool ends_step = fed_ + slices_ == feed_.length;
  ArraySlot& array = parts_.array;
  const auto put = [&array](ArraySlot::Input port, std::uint64_t value) {
    array.write(port, Bits(array.width(port), value));
  };
  array.write(ArraySlot::a, a_beat_.bits());
  array.write(ArraySlot::b, b_beat_.bits());
  put(ArraySlot::count, slices_);
  put(ArraySlot::skip, job_.skip ? 1 : 0);
  put(ArraySlot::last, ends_step ? 1 : 0);
  put(ArraySlot::drain, ends_step && feed_.closes_tile ? 1 : 0);
  if (fed_ == 0 && feed_.opens_tile) {
    Bits used(array.width(ArraySlot::used));
    for (std::int64_t row = 0; row < feed_.rows; ++row) used.flip(static_cast<int>(row));
    array.write(ArraySlot::used, used);
  }
  if (!dequantizer_) write_drain_inputs();
  beat_ready_ = true;
}

void GemmController::read_operands() {
  const Architecture& arch = parts_.arch;
  a_beat_.clear();
  b_beat_.clear();
  std::uint64_t nonzero = 0;
  for (int slice = 0; slice < slices_; ++slice) {
    const std::int64_t k = fed_ + slice;
    for (std::int64_t row = 0; row < feed_.rows; ++row) {
      const std::uint32_t a = parts_.a.element(feed_.a, row * feed_.length + k, shape_.a_bits);
      a_beat_.set(slice * arch.rows + row, a);
      if (!is_zero(a)) ++nonzero;
      if (dequantizer_ && feed_.tile_col == 0) dequantizer_->add_a(feed_.tile_row * arch.rows + row, a);
    }
    for (std::int64_t col = 0; col < feed_.cols; ++col) {
      const std::uint32_t b = parts_.b.element(feed_.b, k * feed_.cols + col, shape_.b_bits);
      b_beat_.set(slice * arch.cols + col, b);
      if (dequantizer_ && feed_.tile_row == 0) dequantizer_->add_b(feed_.tile_col * arch.cols + col, b);
    }
  }
  beat_taken_elements_ = job_.skip ? nonzero : static_cast<std::uint64_t>(slices_ * feed_.rows);
}

// What the drain of an array of codes needs: biases, the quantizers' scale and seeds.
void GemmController::write_drain_inputs() {
  ArraySlot& array = parts_.array;
  array.write(ArraySlot::scale, Bits(8, static_cast<std::uint64_t>(job_.c_scale) & 0xFF));
  if (fed_ == 0 && feed_.opens_tile) {
    Bits bias(array.width(ArraySlot::bias));
    for (std::int64_t col = 0; col < feed_.cols && !job_.bias.empty(); ++col) {
      const float value = job_.bias[feed_.tile_col * parts_.arch.cols + col];
      bias.set_field(static_cast<int>(32 * col), 32, fp32_bits(value));
    }
    array.write(ArraySlot::bias, bias);
  }
  // The lanes take their seeds with the first beat of all.
  const bool first = feeding_ == 0 && fed_ == 0;
  array.write(ArraySlot::load, Bits(1, first && !seeds_.empty() ? 1 : 0));
  if (first && !seeds_.empty()) {
    Bits seed(array.width(ArraySlot::seed));
    for (std::size_t col = 0; col < seeds_.size(); ++col)
      seed.set_field(static_cast<int>(32 * col), 32, seeds_[col]);
    array.write(ArraySlot::seed, seed);
  }
}

void GemmController::beat_taken() {
  if (fed_ == 0) ++started_;
  run_.cycles.a_taken += beat_taken_elements_;
  run_.cycles.macs += beat_taken_elements_ * static_cast<std::uint64_t>(feed_.cols);
  run_.cycles.b_staged += static_cast<std::uint64_t>(slices_ * feed_.cols);
  fed_ += slices_;
  beat_ready_ = false;
  seen_ = Seen::feeding;
  if (fed_ < feed_.length) return;
  seen_ = feed_.closes_tile ? Seen::finishing_tile : Seen::finishing_step;
  if (feed_.closes_tile) ++fed_tiles_;
  fed_ = 0;
  ++feeding_;
  if (feeding_ < plan_.steps()) feed_ = plan_.step(feeding_);
}

// ---------------------------------------------------------------------------------------------- the cycles

bool GemmController::array_busy() const {
  if (offering_ || drained_ < fed_tiles_) return true;
  return parts_.arch.acc_double_buffer ? parts_.array.systemc()->step_active() : seen_ != Seen::idle;
}

CycleCounter::Kind GemmController::idle_kind() const {
  const bool more = started_ < plan_.steps();
  const std::int64_t sets = parts_.arch.acc_double_buffer ? 2 : 1;
  const std::int64_t drains_needed =
      more ? (plan_.opens_tile(started_) ? plan_.tile_of(started_) - sets + 1 : 0) : plan_.tiles();
  if (drained_ < drains_needed) {
    // The oldest drain that is not done is that of tile drained_; its half of C was that of two tiles before.
    return written_ >= drained_ - 1 ? CycleCounter::Kind::drain : CycleCounter::Kind::write_back;
  }
  return dma_transfer_ == Transfer::write_back ? CycleCounter::Kind::write_back : CycleCounter::Kind::load;
}

void GemmController::classify(bool beat_fired, bool row_shown) {
  using Kind = CycleCounter::Kind;
  const ArrayUnit* array = parts_.array.systemc();
  if (array != nullptr && parts_.arch.acc_double_buffer) {
    // Tiles overlap here, and the ports do not tell when one ends.
    counter_.count(beat_fired || array->step_active() ? Kind::compute : idle_kind());
    return;
  }
  // A step has ended when the array takes beats again, a tile PipeLatency cycles before its first row shows.
  if (!beat_fired && seen_ == Seen::finishing_step && parts_.array.ready()) seen_ = Seen::idle;
  if (!beat_fired && seen_ == Seen::finishing_tile) {
    if (!row_shown) {
      counter_.count_undecided(idle_kind());
      return;
    }
    counter_.first_row_shows();
    seen_ = Seen::idle;
  }
  counter_.count(seen_ == Seen::idle ? idle_kind() : Kind::compute);
}

// One row of C into its half of the buffer; what lies outside of the matrix is dropped.
void GemmController::take_row() {
  const GemmPlan::TilePlace tile = plan_.tile(drained_);
  if (row_ < tile.rows) {
    if (dequantizer_) {
      take_sums(tile);
    } else {
      take_codes(tile);
    }
    run_.cycles.drained += static_cast<std::uint64_t>(tile.cols);
  }
  ++row_;
  if (parts_.array.output(ArraySlot::row_last).value() == 0) return;
  if (dequantizer_) {
    if (parts_.array.output(ArraySlot::overflow).value() != 0)
      throw std::overflow_error("a sum of integers does not fit the accumulator");
  } else if (parts_.array.output(ArraySlot::suppressed).value() != 0) {
    ++run_.suppressed_tiles;
  }
  row_ = 0;
  ++drained_;
}

void GemmController::take_codes(const GemmPlan::TilePlace& tile) {
  const Bits& codes = parts_.array.output(ArraySlot::c);
  const Bits& flags = parts_.array.output(ArraySlot::flags);
  const BufferPlace half{drained_ % 2 * plan_.c_half_bytes(), row_ * tile.cols};
  const int code_bits = parts_.formats.c.bits();
  std::uint8_t* flag = run_.flags.data() + (tile.first_row + row_) * job_.n + tile.first_col;
  for (std::int64_t col = 0; col < tile.cols; ++col) {
    const auto code = static_cast<std::uint32_t>(codes.field(static_cast<int>(col) * code_bits, code_bits));
    parts_.c.set_element(half, col, shape_.c_bits, code);
    flag[col] = static_cast<std::uint8_t>(flags.field(static_cast<int>(col) * 5, 5));
  }
}

void GemmController::take_sums(const GemmPlan::TilePlace& tile) {
  const Bits& sums = parts_.array.output(ArraySlot::c);
  const BufferPlace half{drained_ % 2 * plan_.c_half_bytes(), row_ * tile.cols};
  for (std::int64_t col = 0; col < tile.cols; ++col) {
    const std::uint64_t sum = sums.field(static_cast<int>(col) * int_mac_acc_bits, int_mac_acc_bits);
    const float value = dequantizer_->output(sum, tile.first_row + row_, tile.first_col + col);
    parts_.c.set_element(half, col, shape_.c_bits, fp32_bits(value));
  }
}

// A drain begins when its half of C has been written back; its first row comes PipeLatency cycles later.
bool GemmController::may_take_row() const {
  if (drained_ < 2) return true;
  return written_ >= drained_ - 1 && cycle_ >= written_at_[drained_ % 2] + parts_.arch.pipe_latency;
}

void GemmController::drive() {
  offering_ = feeding_ < plan_.steps() && loaded(feeding_, feed_);
  if (offering_ && !beat_ready_) prepare_beat();
  taking_ = may_take_row();
  parts_.array.offer(offering_);
  parts_.array.take(taking_);
}

void GemmController::cycle() {
  const bool beat_fired = offering_ && parts_.array.ready();
  const bool row_shown = parts_.array.valid();
  if (beat_fired) beat_taken();
  classify(beat_fired, row_shown);
  clock_dma();
  if (row_shown && taking_) take_row();
  quiet_ = array_busy() ? 0 : quiet_ + 1;
  ++cycle_;
}

}  // namespace mantissa
