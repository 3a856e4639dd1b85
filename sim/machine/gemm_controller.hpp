// Runs one GEMM on the machine, cycle by cycle: cuts it into steps, feeds the array from the buffers, sends
// the DMA on its way and takes the rows that drain (ARITHMETIC.md 7, "DMA", "Order", "Stalls").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/machine/array_job.hpp"
#include "sim/machine/array_slot.hpp"
#include "sim/machine/beat_operand.hpp"
#include "sim/machine/cycle_counter.hpp"
#include "sim/machine/dequantizer.hpp"
#include "sim/machine/dma.hpp"
#include "sim/machine/dram.hpp"
#include "sim/machine/gemm_plan.hpp"
#include "sim/machine/sram_buffer.hpp"

namespace mantissa {

// What the controller works with.
struct MachineParts {
  const Architecture& arch;
  const ArrayFormats& formats;
  ArraySlot& array;
  Dma& dma;
  Dram& dram;
  SramBuffer& a;
  SramBuffer& b;
  SramBuffer& c;
};

class GemmController {
 public:
  // Lays A and B into DRAM. Throws std::invalid_argument for a job that does not fit.
  GemmController(const MachineParts& parts, const ArrayJob& job);

  // A cycle begins: the array's inputs.
  void drive();
  // Just before the clock edge that ends it, with the outputs that the array shows.
  void cycle();
  // Nothing has gone into the array for a while, and nothing is in it: its clock may stand still.
  bool units_rest() const { return quiet_ > 2; }
  bool finished() const { return written_ == plan_.tiles(); }
  std::uint64_t cycles() const { return static_cast<std::uint64_t>(cycle_); }

  ArrayRun result() const;

 private:
  // The queue of transfers is a place in the list of ARITHMETIC.md 7: of step i its loads, then perhaps the
  // write-back of the tile before. After the last step comes the last write-back.
  enum class Transfer : std::uint8_t { load_a, load_b, write_back };

  void check() const;
  bool is_zero(std::uint32_t a) const { return dequantizer_ ? a == 0 : a_zero_[a]; }
  void fill_dram();
  void next_transfer();
  bool transfer_exists() const;
  bool transfer_may_start() const;
  void start_transfer();
  void end_transfer();
  void clock_dma();
  bool loaded(std::int64_t step, const PlannedStep& planned) const;

  void prepare_beat();
  void read_operands();
  void write_drain_inputs();
  void beat_taken();
  bool array_busy() const;
  CycleCounter::Kind idle_kind() const;
  void classify(bool beat_fired, bool row_shown);
  void take_row();
  void take_codes(const GemmPlan::TilePlace& tile);
  void take_sums(const GemmPlan::TilePlace& tile);
  bool may_take_row() const;

  MachineParts parts_;
  const ArrayJob& job_;
  GemmPlan plan_;
  GemmShape shape_;
  std::vector<std::uint32_t> seeds_;        // of the drain's lanes; empty: it draws nothing
  std::array<bool, 256> a_zero_{};          // of all codes
  std::optional<Dequantizer> dequantizer_;  // of an array of integers
  std::int64_t cycle_ = 0;

  // Feeding: the step whose beats go out, and the beat on the inputs.
  std::int64_t feeding_ = 0;
  PlannedStep feed_;
  std::int64_t fed_ = 0;      // slices of the step
  std::int64_t started_ = 0;  // steps
  bool offering_ = false;
  bool beat_ready_ = false;  // prepared
  int slices_ = 0;
  std::uint64_t beat_taken_elements_ = 0;  // of A, that rows in use will take of the beat
  BeatOperand a_beat_;
  BeatOperand b_beat_;

  // Whether the array computes, as its ports tell.
  enum class Seen : std::uint8_t { idle, feeding, finishing_step, finishing_tile };
  Seen seen_ = Seen::idle;
  std::int64_t fed_tiles_ = 0;  // completely
  int quiet_ = 0;               // cycles since the array was busy
  CycleCounter counter_;

  // DMA.
  std::int64_t dma_step_ = 0;
  Transfer dma_transfer_ = Transfer::load_a;
  PlannedStep dma_planned_;

  // Drain.
  bool taking_ = false;
  std::int64_t row_ = 0;
  std::int64_t drained_ = 0;                     // tiles
  std::int64_t written_ = 0;                     // tiles, in DRAM
  std::array<std::int64_t, 2> written_at_ = {};  // per half of C: when it was last free again
  std::uint64_t elements_before_ = 0;            // that the array had taken before this job

  ArrayRun run_;
};

}  // namespace mantissa
