// range_bn_forward in SystemC: collects a channel, asks the golden model for its statistics, and normalises
// the elements of the second pass one by one.
#include "models/mac/arithmetic.hpp"
#include "models/norm/range_bn.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/range_bn_codes.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class RangeBnForward : public ClockedUnit {
 public:
  RangeBnForward(const sc_core::sc_module_name& name, int index_bits)
      : ClockedUnit(name), index_bits_(index_bits) {}

  std::vector<std::string> stages() const override { return {"indices", "statistics", "normalise"}; }

 private:
  // From the last chunk's indices to 1/s: two products, the range, * C, + eps, and the divider's 27.
  static constexpr int statistics_cycles = 5 + 27;
  static constexpr int registers_of_pipe = 3;

  struct Result {
    BnKind kind = BnKind::element;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool last = false;
  };
  enum class Phase : std::uint8_t { scan, statistics, normalise };

  bool asks(BnMode pass) const { return (mode_i_.value() & static_cast<unsigned>(pass)) != 0; }
  bool at_end() const { return index_ + 1 == count_i_.value(); }
  bool scanning() const { return phase_ == Phase::scan && asks(BnMode::statistics); }
  bool statistics_done() const { return phase_ == Phase::statistics && !indices_ && wait_ == 0; }
  std::uint32_t flip(std::string_view stage) const { return corrupted(stage) ? 1 : 0; }

  RangeBnRegisters registers() const {
    RangeBnRegisters registers;
    registers.chunk_length = static_cast<std::int64_t>(chunk_length_i_.value());
    registers.reciprocal_n = reciprocal_count_i_.number();
    registers.reciprocal_chunks = reciprocal_chunks_i_.number();
    registers.constant = constant_i_.number();
    return registers;
  }

  // The result that enters the pipeline in this cycle.
  std::optional<Result> offered() const {
    if (indices_) return indices_;
    if (statistics_done()) {
      return Result{BnKind::saved, fp32_bits(saved_.mean), fp32_bits(saved_.inv) ^ flip("statistics"),
                    !asks(BnMode::normalise)};
    }
    if (scanning() || phase_ == Phase::statistics || !valid_i.read()) return std::nullopt;
    const bool own = asks(BnMode::statistics);
    const float xhat =
        normalised(x_i_.number(), own ? saved_.mean : mean_i_.number(), own ? saved_.inv : inv_i_.number());
    const float y = f32::fma(xhat, gamma_i_.number(), beta_i_.number());
    return Result{BnKind::element, fp32_bits(y) ^ flip("normalise"), 0, at_end()};
  }

  void evaluate() override {
    const bool room = pipe_.ready(ready_i.read());
    if (scanning()) {
      ready_o.write((!indices_ || room) && !at_end());
    } else {
      ready_o.write((phase_ != Phase::statistics || statistics_done()) && room);
    }
    const std::optional<Result> front = pipe_.front(std::nullopt);
    valid_o.write(front.has_value());
    if (!front) return;
    kind_o_.put(static_cast<std::uint64_t>(front->kind));
    first_o_.put(front->first);
    second_o_.put(front->second);
    last_o_.put(front->last ? 1 : 0);
  }

  // An element of pass 1.
  void take() {
    channel_.push_back(x_i_.number());
    const RangeBnRegisters given = registers();
    const auto seen = static_cast<std::int64_t>(channel_.size());
    if (seen % given.chunk_length == 0) {
      const std::int64_t first = seen - given.chunk_length;
      const RangeBnSaved chunk = range_bn_statistics(std::span(channel_).subspan(first), given);
      indices_ =
          Result{BnKind::indices, static_cast<std::uint32_t>(first + chunk.argmax[0]) ^ flip("indices"),
                 static_cast<std::uint32_t>(first + chunk.argmin[0])};
    }
    if (at_end()) {
      saved_ = range_bn_statistics(channel_, given);
      channel_.clear();
      phase_ = Phase::statistics;
      wait_ = statistics_cycles;
    }
  }

  void advance() override {
    const bool room = pipe_.ready(ready_i.read());
    const bool scan = scanning();
    const bool saved = statistics_done() && room;
    const bool folded = indices_ && room;
    const bool moves = valid_i.read() && (scan ? !indices_ || room : phase_ != Phase::statistics && room);
    const bool end = at_end();
    pipe_.advance(offered(), ready_i.read());

    if (folded) {
      indices_.reset();
    } else if (phase_ == Phase::statistics && !indices_ && wait_ > 0) {
      --wait_;
    }
    if (saved) phase_ = asks(BnMode::normalise) ? Phase::normalise : Phase::scan;
    if (!moves) return;
    if (scan) {
      take();
    } else if (end) {
      phase_ = Phase::scan;
    }
    index_ = end ? 0 : index_ + 1;
  }

  void reset() override {
    phase_ = Phase::scan;
    index_ = 0;
    channel_.clear();
    indices_.reset();
    pipe_.reset();
  }

  int index_bits_;
  DataIn x_i_{*this, "x_i", 32};
  DataIn mode_i_{*this, "mode_i", 2};
  DataIn count_i_{*this, "count_i", index_bits_};
  DataIn chunk_length_i_{*this, "chunk_length_i", index_bits_};
  DataIn reciprocal_count_i_{*this, "reciprocal_count_i", 32};
  DataIn reciprocal_chunks_i_{*this, "reciprocal_chunks_i", 32};
  DataIn constant_i_{*this, "constant_i", 32};
  DataIn gamma_i_{*this, "gamma_i", 32};
  DataIn beta_i_{*this, "beta_i", 32};
  DataIn mean_i_{*this, "mean_i", 32};
  DataIn inv_i_{*this, "inv_i", 32};
  DataOut kind_o_{*this, "kind_o", 2};
  DataOut first_o_{*this, "first_o", 32};
  DataOut second_o_{*this, "second_o", 32};
  DataOut last_o_{*this, "last_o", 1};

  Phase phase_ = Phase::scan;
  std::uint64_t index_ = 0;        // of the next element
  std::vector<float> channel_;     // what pass 1 has seen of it
  std::optional<Result> indices_;  // of a chunk that is complete
  int wait_ = 0;                   // cycles until the statistics are there
  RangeBnSaved saved_;
  ResultPipe<Result> pipe_{registers_of_pipe};
};

}  // namespace

std::unique_ptr<UnitModule> make_range_bn_forward(const char* name, const UnitParameters& parameters) {
  return std::make_unique<RangeBnForward>(name, parameters.at("IndexBits"));
}

}  // namespace mantissa
