#include "sim/verify/diagnosis.hpp"

namespace mantissa::verify {

bool Diagnosis::compared(const Station& station, std::size_t output) const {
  return station.name() != "rtl" || rtl_.has_output(station.port(output));
}

Mismatch Diagnosis::failure(const Station& station, const std::string& what, const Transaction& cause,
                            std::uint64_t cycle) {
  Mismatch mismatch;
  mismatch.what = what;
  mismatch.model = station.name();
  mismatch.cycle = cycle;
  if (cause.empty()) return mismatch;
  for (std::size_t i = 0; i < cause.size(); ++i)
    mismatch.inputs.push_back({rtl_.inputs()[i]->basename(), "", cause[i].hex()});
  mismatch.golden = reference_.explain(cause);
  return mismatch;
}

Mismatch Diagnosis::wrong_output(const Station& station, std::size_t output, const Expected& expected,
                                 std::uint64_t cycle) {
  Mismatch mismatch = failure(station, station.port(output) + " is wrong", expected.cause, cycle);
  describe_outputs(mismatch, station, expected);
  const std::string like = neighbour(station);
  if (!like.empty()) mismatch.stage += (mismatch.stage.empty() ? "" : "; but ") + like;
  return mismatch;
}

void Diagnosis::describe_outputs(Mismatch& mismatch, const Station& station, const Expected& expected) {
  mismatch.stage = reference_.diagnose(expected, station.snapshot());
  for (std::size_t i = 0; i < station.outputs(); ++i) {
    if (!compared(station, i)) continue;
    mismatch.outputs.push_back({station.port(i), expected.outputs[i].hex(), station.output(i).hex(),
                                reference_.decimal(i, expected.outputs[i]),
                                reference_.decimal(i, station.output(i))});
    const TapLayout layout = reference_.tap_layout();
    if (station.port(i) != "tap_o" || layout.empty()) continue;
    const int field = first_difference(layout, expected.outputs[i], station.output(i));
    if (field >= 0) mismatch.stage = layout[field].stage + " (" + layout[field].name + ")";
  }
}

bool Diagnosis::equals(const Station& station, const std::optional<Expected>& expected) const {
  if (!expected) return false;
  for (std::size_t i = 0; i < station.outputs(); ++i) {
    if (compared(station, i) && station.output(i) != expected->outputs[i]) return false;
  }
  return true;
}

// The right answer to another transaction points to the handshake, not to the arithmetic.
std::string Diagnosis::neighbour(const Station& station) {
  if (equals(station, previous_))
    return "this is the previous transaction's answer: repeated, or the latency is longer";
  if (equals(station, reference_.next()))
    return "this is the next transaction's answer: one was lost, or the latency is shorter";
  if (!previous_ && rtl_.latency() > 0) return "this is the first answer of all: is the latency right?";
  return {};
}

}  // namespace mantissa::verify
