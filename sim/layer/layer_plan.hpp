// One layer under one recipe: in which forms its tensors are held, what its quantizers, pruner, accumulators
// and norm do, and which random numbers they take. Replay and training both follow it; where tensors come
// from and what is done with results is theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/sparsity/pruner.hpp"
#include "models/tensor/encode.hpp"
#include "sim/layer/layer_registers.hpp"
#include "sim/layer/step.hpp"
#include "sim/recipe/recipe.hpp"

namespace mantissa {

// A tensor on its way into the array or into a norm's units.
struct OperandSite {
  Role role = Role::input;
  TensorFormat format;
  Pass pass = Pass::forward;
  Operand side = Operand::a;
};

class LayerPlan {
 public:
  // The recipe must outlive the plan. `index` is the layer's place among those of a trace (conv2d, linear,
  // batchnorm): part of every random stream. An exempt layer stays FP32.
  LayerPlan(const Recipe& recipe, std::string name, LayerKind kind, std::uint16_t index, bool exempt);

  const std::string& name() const { return name_; }
  LayerKind kind() const { return kind_; }
  std::uint16_t index() const { return index_; }
  // Whether its errors go through a pruner once it has a threshold.
  bool prunes() const { return recipe_->pruning.has_value() && multiplies(kind_) && !exempt_; }

  // Thresholds, formats and scales of the present step.
  LayerRegisters registers;
  // They are those of a recorded run: scales that a rule would take from the values are used as they are.
  bool recorded = false;
  // From a file. Throws std::invalid_argument for what this layer's units cannot hold: a threshold or a
  // format of errors where the recipe has none.
  void restore(const LayerRegisters& saved);

  // What stands before the first, the second and the only operand of the passes that use it.
  OperandSite input() const;
  OperandSite weight() const;
  OperandSite error() const;
  // The copy of the error that the weight gradient uses; none: the same one.
  std::optional<OperandSite> error_for_weights() const;
  // How results of this role leave the array or the norm; none: they stay FP32.
  std::optional<TensorFormat> drain(Role role) const;

  // FP32, rounded to nearest, of a layer that stays FP32.
  Accumulator accumulator() const { return exempt_ ? Accumulator{} : recipe_->accumulator; }
  // None before the first threshold.
  std::optional<Pruner> pruner() const;
  // For channels of n elements.
  NormRule norm(std::int64_t n) const;
  // The 8-bit mode of Range BN quantizes by itself and reads what no integer quantizer has touched; a norm
  // that does not reads what is in memory.
  bool norm_quantizes() const;

  DrawSource draws(const Step& step, Pass pass, RandomUnit unit, Operand side = Operand::output) const {
    return step.draws(index_, pass, unit, side);
  }
  // The exponent by which the quantizer of this role multiplies in this step, kept in its register. The
  // values are numbers times 2^from.
  int scale(const Step& step, Role role, const TensorFormat& format, std::span<const float> values,
            int from = 0);
  // The drain's quantizer as a conversion. Throws std::invalid_argument for an exponent beyond its register.
  Conversion drain_conversion(const Step& step, const TensorFormat& format, int exponent) const;

  // Through the pruner, where there is one: returns what it met, and `pruned` holds the survivors.
  std::optional<PruneCounts> prune(const Step& step, std::span<const float> errors,
                                   std::vector<float>& pruned) const;
  // Through the quantizer of the site. `threads` of the options are the step's.
  void encode(const Step& step, const OperandSite& site, std::span<const float> numbers,
              EncodedTensor& tensor, EncodeOptions options = {});

 private:
  TensorFormat format(Role role) const;

  const Recipe* recipe_;
  std::string name_;
  LayerKind kind_;
  std::uint16_t index_;
  bool exempt_;
};

// What a network looks like to a recipe.
struct LayerName {
  std::string name;
  LayerKind kind = LayerKind::linear;
};
// In the order of the network; the first and the last conv2d or linear layer are exempt where the recipe says
// so.
std::vector<LayerPlan> plan_layers(const Recipe& recipe, std::span<const LayerName> layers);

}  // namespace mantissa
