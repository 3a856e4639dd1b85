// norm_statistics: channels that take turns, as the columns of a drain do, forward and backward mixed.

#include "sim/units/norm_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "models/format/convert.hpp"
#include "models/format/named.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/range_bn_channel.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

using Ports = NormStatisticsPorts;

class NormStatisticsReference : public StreamReference {
 public:
  explicit NormStatisticsReference(const UnitParameters& parameters)
      : columns_(parameters.at("Columns")),
        index_bits_(parameters.at("IndexBits")),
        in_parts_(parameters.at("Parts") != 0) {
    while ((1 << column_bits_) < columns_) ++column_bits_;
    coverage_.exclude("sum -nan", "NaN results are canonical");
    coverage_.exclude("sum -zero", "sums start at +0");
    if (!in_parts_) coverage_.exclude("several parts", "the unit has none");
    if (columns_ == 1) coverage_.exclude("channels take turns", "there is one column");
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"column " + std::to_string(cause[Ports::column].value()) + ", element " +
            std::to_string(cause[Ports::index].value()) +
            (cause[Ports::backward].value() != 0 ? ", backward" : ", forward")};
  }

 private:
  // A channel that is not over, in its column.
  struct Turn {
    std::uint64_t column = 0;
    bool backward = false;
    RangeBnChannel channel;
    RangeBnSaved saved;
    std::uint64_t base = 0;  // index of its first element
    std::size_t done = 0;
    std::size_t part_length = 0;
    RangeBnSums forward_sums = {};
    RangeBnSums forward_total = {};
    GradientSums backward_sums = {};
    GradientSums backward_total = {};
  };

  // Of any length that divides the channel, one element included, whatever the chunks are.
  static std::size_t part_length(std::size_t elements, stimulus::Dice& dice) {
    std::size_t parts = 1 + dice.below(std::min<std::size_t>(elements, 8));
    while (elements % parts != 0) --parts;
    return elements / parts;
  }

  Turn turn(std::uint64_t index, std::uint64_t column, stimulus::Dice& dice) {
    // Longer ones would be alone at the end.
    constexpr std::size_t longest = 200;
    Turn turn;
    turn.column = column;
    turn.backward = dice.below(2) == 0;
    turn.channel = range_bn_channel(index, longest, dice);
    turn.saved = range_bn_statistics(turn.channel.x, turn.channel.config);
    if (dice.below(8) == 0) turn.saved.inv = any_fp32(dice);
    if (dice.below(8) == 0) turn.saved.mean = any_fp32(dice);
    turn.part_length = part_length(turn.channel.x.size(), dice);
    coverage_.hit_if(in_parts_ && turn.part_length < turn.channel.x.size(), several_parts_);
    turn.base = dice.bits(index_bits_) >> 1;
    coverage_.hit(turn.backward ? backward_ : forward_);
    coverage_.hit(turn.channel.config.chunks == 1 ? one_chunk_ : many_chunks_);
    coverage_.hit_if(has_nan(turn.channel.x) && !turn.backward, nan_);
    return turn;
  }

  // In every column a channel, a few elements of each in turn: rows of a tile.
  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    std::vector<Turn> turns;
    const auto columns = static_cast<std::uint64_t>(columns_);
    for (std::uint64_t column = 0; column < columns; ++column) {
      if (index > 0 && dice.below(4) == 0) continue;
      turns.push_back(turn(index * columns + column, column, dice));
    }
    coverage_.hit_if(turns.size() > 1, take_turns_);
    const std::size_t rows = 1 + dice.below(8);
    while (!turns.empty()) {
      for (Turn& each : turns) {
        for (std::size_t row = 0; row < rows && each.done < each.channel.x.size(); ++row)
          add_element(each, dice);
      }
      std::erase_if(turns, [](const Turn& each) { return each.done == each.channel.x.size(); });
    }
  }

  void add_element(Turn& turn, stimulus::Dice& dice) {
    const RangeBnChannel& channel = turn.channel;
    const std::size_t i = turn.done++;
    const std::size_t length = channel.x.size() / static_cast<std::size_t>(channel.config.chunks);
    const bool last = turn.done == channel.x.size();
    const bool begins = i % length == 0;
    const bool ends = turn.done % length == 0;
    const bool ends_part = turn.done % turn.part_length == 0;
    const std::uint64_t index = turn.base + i;
    Transaction inputs{
        Bits(1, turn.backward ? 1 : 0), Bits(column_bits_, turn.column),
        Bits(1, i == 0 ? 1 : 0),        Bits(1, last ? 1 : 0),
        Bits(1, begins ? 1 : 0),        Bits(1, ends ? 1 : 0),
        Bits(1, ends_part ? 1 : 0),     Bits(index_bits_, index),
        fp32_port(channel.x[i]),        fp32_port(turn.backward ? channel.g[i] : any_fp32(dice)),
        fp32_port(channel.gamma),       fp32_port(turn.saved.mean),
        fp32_port(turn.saved.inv)};
    x_.sample(fp32_bits(channel.x[i]));
    std::array<float, 4> sums{};
    if (turn.backward) {
      turn.backward_sums.add(channel.x[i], channel.g[i], channel.gamma, turn.saved.mean, turn.saved.inv);
      if (in_parts_ && ends_part) turn.backward_sums.end_part(turn.backward_total);
      sums = sums_on_port(in_parts_ ? turn.backward_total : turn.backward_sums);
    } else {
      turn.forward_sums.add(channel.x[i], static_cast<std::int64_t>(index), begins, ends);
      if (in_parts_ && ends_part) turn.forward_sums.end_part(turn.forward_total);
      sums = sums_on_port(in_parts_ ? turn.forward_total : turn.forward_sums);
    }
    const bool chunk = ends && !turn.backward;
    if (last || chunk) {
      add(std::move(inputs), result(turn, chunk, last, sums));
    } else {
      add(std::move(inputs));
    }
  }

  Transaction result(const Turn& turn, bool chunk, bool last, const std::array<float, 4>& sums) {
    const auto index = [&](std::int64_t value) {
      return Bits(index_bits_, chunk ? static_cast<std::uint64_t>(value) : 0);
    };
    Bits all(4 * 32);
    for (int i = 0; last && i < 4; ++i) {
      all.set_field(32 * i, 32, fp32_bits(sums[i]));
      sum_.sample(fp32_bits(sums[i]));
    }
    return {Bits(column_bits_, turn.column),
            Bits(1, chunk ? 1 : 0),
            index(turn.forward_sums.argmax),
            index(turn.forward_sums.argmin),
            Bits(1, last ? 1 : 0),
            all,
            Bits(1, last && turn.forward_sums.has_nan ? 1 : 0)};
  }

  int columns_;
  int index_bits_;
  bool in_parts_;
  int column_bits_ = 1;
  OperandBins x_{coverage_, "x", formats::fp32};
  OperandBins sum_{coverage_, "sum", formats::fp32};
  int forward_ = coverage_.declare("forward");
  int backward_ = coverage_.declare("backward");
  int one_chunk_ = coverage_.declare("one chunk");
  int many_chunks_ = coverage_.declare("several chunks");
  int several_parts_ = coverage_.declare("several parts");
  int nan_ = coverage_.declare("NaN in a channel, forward");
  int take_turns_ = coverage_.declare("channels take turns");
};

}  // namespace

UnitKind norm_statistics_kind() {
  return {
      .name = "norm_statistics",
      .module = "norm_statistics",
      .what = "sums and extremes of batch norms whose channels take turns, FP32",
      .section = "8",
      .latency = "5, with Parts 6; one element per cycle",
      .parameters = {{"Columns", 16, "channels that take turns, 1 to 4096"},
                     {"IndexBits", 20, "bits of an element's place in its channel"},
                     {"Parts", 0, "1: sums may be cut into parts"}},
      .ports = {{"backward_i", "1", "pass 1 of the backward pass, not sweep 1 of the forward pass"},
                {"column_i", "Columns > 1 ? clog2(Columns) : 1",
                 "where what is collected of the channel stands"},
                {"first_i", "1", "first element of its channel"},
                {"last_i", "1", "last element of its channel"},
                {"chunk_first_i", "1", "first element of its chunk; forward"},
                {"chunk_last_i", "1", "last element of its chunk; forward"},
                {"part_last_i", "1", "last element of its part; with Parts, and with every channel's last"},
                {"index_i", "IndexBits", "place in the channel; forward"},
                {"x_i", "32", "element, FP32"},
                {"g_i", "32", "gradient of its y, FP32; backward, as all below"},
                {"gamma_i", "32", "FP32, of the channel as what is below"},
                {"mean_i", "32", "FP32"},
                {"inv_i", "32", "FP32"},
                {"column_o", "Columns > 1 ? clog2(Columns) : 1",
                 "of the channel that a chunk or all of has ended"},
                {"chunk_o", "1", "a chunk has ended"},
                {"argmax_o", "IndexBits", "of the chunk"},
                {"argmin_o", "IndexBits", "of the chunk"},
                {"last_o", "1", "the channel has ended"},
                {"sums_o", "4*32",
                 "of the channel, lowest first: x, maxima, minima, +0; or g, h, g*xhat, h*xhat"},
                {"nan_o", "1", "the channel's x has a NaN; forward"}},
      // Gates of many columns are mostly memory.
      .configurations = {{"5 columns, 20-bit indices, parts", {{"Columns", 5}, {"Parts", 1}}},
                         {"1 column, 10-bit indices", {{"Columns", 1}, {"IndexBits", 10}}},
                         {"16 columns, 20-bit indices", {}, false}},
      .systemc = make_norm_statistics,
      .reference = [](const UnitParameters& p) { return std::make_unique<NormStatisticsReference>(p); },
  };
}

}  // namespace mantissa::verify
