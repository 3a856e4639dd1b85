// norm_statistics in SystemC: the golden sums of each column, and the registers of the RTL.
#include "sim/units/norm_statistics.hpp"

#include <vector>

#include "models/format/convert.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

int column_bits(int columns) {
  int bits = 1;
  while ((1 << bits) < columns) ++bits;
  return bits;
}

class NormStatistics : public ClockedUnit {
 public:
  NormStatistics(const sc_core::sc_module_name& name, int columns, int index_bits, bool parts)
      : ClockedUnit(name),
        column_bits_(column_bits(columns)),
        index_bits_(index_bits),
        in_parts_(parts),
        columns_(columns),
        parts_(parts ? 1 : 0) {}

  std::vector<std::string> stages() const override { return {"extremes", "sums"}; }

 private:
  // h, centred, scaled, products: a register after each; the last one is behind the sums.
  static constexpr int registers_of_elements = 4;
  static constexpr int registers_of_results = 1;

  struct Result {
    std::uint64_t column = 0;
    bool chunk = false;
    std::uint64_t argmax = 0;
    std::uint64_t argmin = 0;
    bool last = false;
    std::array<float, 4> sums = {};
    bool nan = false;
  };
  struct Element {
    std::optional<Result> result;
    bool ends_part = false;
  };
  // Of the part, or of all, and of the parts that have ended.
  struct Column {
    RangeBnSums forward, forward_total;
    GradientSums backward, backward_total;
  };

  // An element whose result or whose part's sums go on.
  static std::optional<Element> sent(const std::optional<Element>& element) {
    return element && (element->result || element->ends_part) ? element : std::nullopt;
  }
  bool part_leaves(const std::optional<Element>& part) const {
    return part && (!part->result || results_.ready(ready_i.read()));
  }
  bool element_leaves(const std::optional<Element>& element) const {
    const std::optional<Element> part = sent(element);
    return element && (!part || parts_.ready(part_leaves(parts_.front(part))));
  }

  // Elements come in order, so what they lead to is known when they enter.
  Element enter() {
    const std::uint64_t place = column_i_.value();
    Column& column = columns_.at(place);
    if (first_i_.value() != 0) column = {};
    Result result{.column = place, .last = last_i_.value() != 0};
    const bool ends_part = in_parts_ && part_last_i_.value() != 0;
    if (backward_i_.value() != 0) {
      column.backward.add(x_i_.number(), g_i_.number(), gamma_i_.number(), mean_i_.number(), inv_i_.number());
      if (ends_part) column.backward.end_part(column.backward_total);
      result.sums = sums_on_port(in_parts_ ? column.backward_total : column.backward);
    } else {
      RangeBnSums& sums = column.forward;
      result.chunk = chunk_last_i_.value() != 0;
      sums.add(x_i_.number(), static_cast<std::int64_t>(index_i_.value()), chunk_first_i_.value() != 0,
               result.chunk);
      if (result.chunk) {
        result.argmax = static_cast<std::uint64_t>(sums.argmax) ^ (corrupted("extremes") ? 1 : 0);
        result.argmin = static_cast<std::uint64_t>(sums.argmin);
      }
      result.nan = result.last && sums.has_nan;
      if (ends_part) sums.end_part(column.forward_total);
      result.sums = sums_on_port(in_parts_ ? column.forward_total : sums);
    }
    if (!result.last) result.sums = {};
    if (result.last && corrupted("sums")) result.sums[0] = fp32_value(fp32_bits(result.sums[0]) ^ 1);
    if (result.last || result.chunk) return {result, ends_part};
    return {std::nullopt, ends_part};
  }

  void evaluate() override {
    ready_o.write(elements_.ready(element_leaves(elements_.front(std::nullopt))));
    const std::optional<Result> front = results_.front(std::nullopt);
    valid_o.write(front.has_value());
    if (!front) return;
    column_o_.put(front->column);
    chunk_o_.put(front->chunk ? 1 : 0);
    argmax_o_.put(front->argmax);
    argmin_o_.put(front->argmin);
    last_o_.put(front->last ? 1 : 0);
    Bits sums(4 * 32);
    for (std::size_t i = 0; i < front->sums.size(); ++i)
      sums.set_field(32 * static_cast<int>(i), 32, fp32_bits(front->sums[i]));
    sums_o_.write(sums);
    nan_o_.put(front->nan ? 1 : 0);
  }

  void advance() override {
    const std::optional<Element> leaving = elements_.front(std::nullopt);
    const bool leaves = element_leaves(leaving);
    const std::optional<Element> part = sent(leaving);
    const std::optional<Element> part_leaving = parts_.front(part);
    const bool part_left = part_leaves(part_leaving);
    std::optional<Element> incoming;
    if (valid_i.read() && elements_.ready(leaves)) incoming = enter();
    elements_.advance(incoming, leaves);
    results_.advance(part_leaving ? part_leaving->result : std::nullopt, ready_i.read());
    parts_.advance(part, part_left);
  }

  void reset() override {
    elements_.reset();
    parts_.reset();
    results_.reset();
  }

  int column_bits_;
  int index_bits_;
  bool in_parts_;
  std::vector<Column> columns_;
  DataIn backward_i_{*this, "backward_i", 1};
  DataIn column_i_{*this, "column_i", column_bits_};
  DataIn first_i_{*this, "first_i", 1};
  DataIn last_i_{*this, "last_i", 1};
  DataIn chunk_first_i_{*this, "chunk_first_i", 1};
  DataIn chunk_last_i_{*this, "chunk_last_i", 1};
  DataIn part_last_i_{*this, "part_last_i", 1};
  DataIn index_i_{*this, "index_i", index_bits_};
  DataIn x_i_{*this, "x_i", 32};
  DataIn g_i_{*this, "g_i", 32};
  DataIn gamma_i_{*this, "gamma_i", 32};
  DataIn mean_i_{*this, "mean_i", 32};
  DataIn inv_i_{*this, "inv_i", 32};
  DataOut column_o_{*this, "column_o", column_bits_};
  DataOut chunk_o_{*this, "chunk_o", 1};
  DataOut argmax_o_{*this, "argmax_o", index_bits_};
  DataOut argmin_o_{*this, "argmin_o", index_bits_};
  DataOut last_o_{*this, "last_o", 1};
  DataOut sums_o_{*this, "sums_o", 4 * 32};
  DataOut nan_o_{*this, "nan_o", 1};

  ResultPipe<Element> elements_{registers_of_elements};
  ResultPipe<Element> parts_;  // what adds them
  ResultPipe<Result> results_{registers_of_results};
};

}  // namespace

std::unique_ptr<UnitModule> make_norm_statistics(const char* name, const UnitParameters& parameters) {
  return std::make_unique<NormStatistics>(name, parameters.at("Columns"), parameters.at("IndexBits"),
                                          parameters.at("Parts") != 0);
}

}  // namespace mantissa
