#include "testbench/arch/block_walk_plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace mantissa::test {
namespace {

void check_block(Count block, Count all, Count multiple) {
  if (block < 1 || (block < all && block % multiple != 0))
    throw std::invalid_argument("neither all nor a multiple");
}

class Planner {
 public:
  Planner(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
          const std::vector<std::uint8_t>& first_nonzero)
      : arch_(arch),
        pass_(job, first_nonzero),
        packed_(job.packed),
        outputs_(job.outputs),
        mapping_(mapping) {}

  BlockPlan plan() {
    check_sizes();
    plan_.row_of_a = pass_.row_of_a();
    plan_.row_of_b = pass_.row_of_b();
    const auto rows = cut({outputs_.row0, outputs_.row1}, mapping_.m_block);
    const auto cols = cut({outputs_.col0, outputs_.col1}, mapping_.n_block);
    const auto row_count = static_cast<Count>(rows.size());
    const auto col_count = static_cast<Count>(cols.size());
    if (mapping_.order == BlockOrder::m_outside) {
      for (Count row = 0; row < row_count; ++row) {
        for (Count col = 0; col < col_count; ++col) block({row, col, rows[row], cols[col], 0, 0, {}});
      }
    } else {
      for (Count col = 0; col < col_count; ++col) {
        for (Count row = 0; row < row_count; ++row) block({row, col, rows[row], cols[col], 0, 0, {}});
      }
    }
    if (packed_) count_rows();
    return plan_;
  }

 private:
  void check_sizes() const {
    if (outputs_.row0 % arch_.rows != 0) throw std::invalid_argument("the job begins within a tile");
    check_block(mapping_.m_block, outputs_.rows(), arch_.rows);
    check_block(mapping_.n_block, outputs_.cols(), arch_.cols);
    if (mapping_.k_block >= pass_.units()) return;
    check_block(mapping_.k_block, pass_.units(), 1);
    for (Count phase = 0; phase < pass_.phases(); ++phase) {
      const Count k = mapping_.k_block * static_cast<Count>(pass_.ks(phase, {0, 1}).size());
      if (k % arch_.window != 0) throw std::invalid_argument("a segment is not whole windows");
    }
  }

  void count_rows() {
    for (const PlannedStep& step : plan_.steps) {
      for (const auto& [id, line] : step.a) {
        for (const TensorRow& row : line)
          plan_.nonzero_in_row.try_emplace(row, pass_.nonzero_in_gradient(row));
      }
    }
  }

  void block(StepPlace where) {
    PlannedBlock& block = plan_.blocks.emplace_back();
    block.row = where.block_row;
    block.col = where.block_col;
    block.outputs = where.rows.size() * where.cols.size();
    block.sets = static_cast<Count>(cut(where.rows, arch_.rows).size() * cut(where.cols, arch_.cols).size());
    block.first_step = static_cast<Count>(plan_.steps.size());
    const auto segments = cut({0, pass_.units()}, mapping_.k_block);
    std::map<Count, std::vector<Count>> rows_of_phase;  // with taps and rows
    for (Count phase = 0; phase < pass_.phases(); ++phase) {
      if (pass_.ks(phase, {0, 1}).empty()) continue;
      for (Count m = where.rows.first; m < where.rows.end; ++m) {
        if (pass_.in_phase(phase, m)) rows_of_phase[phase].push_back(m);
      }
    }
    const auto segment_count = rows_of_phase.empty() ? 1 : static_cast<Count>(segments.size());
    for (where.segment = 0; where.segment < segment_count; ++where.segment) {
      PlannedStep& step = plan_.steps.emplace_back();
      step.block = static_cast<Count>(plan_.blocks.size()) - 1;
      where.units = segments[where.segment];
      const bool last_segment = where.segment + 1 == static_cast<Count>(segments.size());
      for (const auto& [phase, rows] : rows_of_phase) {
        where.phase = phase;
        add_phase(where, rows, last_segment, step);
      }
      if (step.tiles.size() == 1) step.tiles.front().alone = true;
      if (last_segment) block.last_tiles += static_cast<Count>(step.tiles.size());
    }
    plan_.steps[block.first_step].opens = true;
  }

  void add_phase(const StepPlace& where, const std::vector<Count>& rows, bool last_segment,
                 PlannedStep& step) {
    step.a.merge(pass_.lines_of_a(where));
    step.b.merge(pass_.lines_of_b(where));
    const std::vector<Place> ks = pass_.ks(where.phase, where.units);
    for (const Range part : cut({0, static_cast<Count>(rows.size())}, arch_.rows)) {
      const std::vector<Count> in_use(rows.begin() + part.first, rows.begin() + part.end);
      for (const Range cols : cut(where.cols, arch_.cols)) {
        PlannedTile& tile = step.tiles.emplace_back();
        tile.sums = part.size() * cols.size();
        tile.first_segment = where.segment == 0;
        tile.last_segment = last_segment;
        std::map<Count, Count> cols_of_group;  // how many
        for (Count col = cols.first; col < cols.end; ++col) ++cols_of_group[col / pass_.group_cols()];
        for (const auto& [group, count] : cols_of_group) tile.runs.push_back(run(group, count, in_use, ks));
      }
    }
  }

  PlannedRun run(Count group, Count cols, const std::vector<Count>& rows, const std::vector<Place>& ks) {
    PlannedRun run{.cols = cols, .length = static_cast<Count>(ks.size()), .nonzero = {}};
    for (const Count m : rows) {
      auto& row = run.nonzero.emplace_back();
      for (const Place& k : ks) row.push_back(pass_.nonzero(group, m, k));
    }
    plan_.scheduled += static_cast<Count>(rows.size()) * cols * run.length;
    return run;
  }

  const Architecture& arch_;
  const WalkedPass pass_;
  const bool packed_;
  const Rectangle outputs_;
  const BlockMapping mapping_;
  BlockPlan plan_;
};

}  // namespace

BlockPlan plan_blocks(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                      const std::vector<std::uint8_t>& first_nonzero) {
  return Planner(arch, job, mapping, first_nonzero).plan();
}

}  // namespace mantissa::test
