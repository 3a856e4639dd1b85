// What a pass did besides multiplying, for the energy tables.
#pragma once

#include <initializer_list>
#include <optional>

#include "sim/energy/energy_actions.hpp"
#include "sim/replay/gemm_pass.hpp"
#include "sim/replay/norm_pass.hpp"

namespace mantissa::replay {

// `made` are the operands that were quantized for this pass first.
GemmWork gemm_work(const GemmPass& pass, const GemmPassResult& result, const GemmCycles& cost,
                   const LayerPlan& plan, const Architecture& arch,
                   std::initializer_list<const RecordedOperand*> made);

NormWork norm_work(const NormPass& pass, const std::optional<TensorFormat>& drained, const GemmCycles& cost,
                   const RecordedOperand& made);

}  // namespace mantissa::replay
