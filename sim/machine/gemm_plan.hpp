// How a GEMM is cut into tiles and steps, what stays in the buffers, and where everything lies in buffers and
// DRAM (ARITHMETIC.md 7, "Tiles and drain", "Steps").
#pragma once

#include <cstdint>

#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {

// Consecutive elements in a buffer: element i of the block is element `element` + i from `byte` on.
struct BufferPlace {
  std::int64_t byte = 0;
  std::int64_t element = 0;
};

// A tile, or a segment of K of a tile.
struct PlannedStep {
  std::int64_t tile = 0;
  std::int64_t tile_row = 0;
  std::int64_t tile_col = 0;
  std::int64_t segment = 0;
  std::int64_t first_k = 0;
  std::int64_t length = 0;  // of k
  std::int64_t rows = 0;    // in use
  std::int64_t cols = 0;
  bool opens_tile = false;
  bool closes_tile = false;
  bool loads_a = false;  // false: it is there
  bool loads_b = false;
  BufferPlace a = {};  // [rows, length]
  BufferPlace b = {};  // [length, cols]
};

class GemmPlan {
 public:
  // Throws what step_length throws.
  GemmPlan(const Architecture& arch, const GemmShape& shape);

  const GemmShape& shape() const { return shape_; }
  std::int64_t tiles() const { return tile_rows_ * tile_cols_; }
  std::int64_t steps() const { return tiles() * segments_; }
  std::int64_t tile_of(std::int64_t step) const { return step / segments_; }
  bool opens_tile(std::int64_t step) const { return step % segments_ == 0; }
  PlannedStep step(std::int64_t index) const;

  // In DRAM every block that a transfer moves is consecutive. Bytes from 0 on: A, B, C.
  std::int64_t a_address(const PlannedStep& step) const;
  std::int64_t b_address(const PlannedStep& step) const;
  std::int64_t c_address(std::int64_t tile) const;
  std::int64_t dram_bytes() const { return c_address(tiles()); }
  std::int64_t c_half_bytes() const { return c_block_; }
  // What the GEMM uses of the buffers: they may be far larger.
  std::int64_t a_buffer_bytes() const { return 2 * a_half_; }
  std::int64_t b_buffer_bytes() const { return b_stays_ ? b_half_ : 2 * b_half_; }

  // Rows and columns in use of a tile, and its first output.
  struct TilePlace {
    std::int64_t first_row = 0;
    std::int64_t first_col = 0;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
  };
  TilePlace tile(std::int64_t index) const;

 private:
  GemmShape shape_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t step_k_;
  std::int64_t tile_rows_;
  std::int64_t tile_cols_;
  std::int64_t segments_;
  bool a_stays_;
  bool b_stays_;
  std::int64_t a_block_;  // bytes of the largest block in DRAM
  std::int64_t b_block_;
  std::int64_t c_block_;
  std::int64_t a_half_;  // bytes in use of half a buffer
  std::int64_t b_half_;  // of the whole buffer if B stays
};

}  // namespace mantissa
