// What the bench tells of a failure: who, when, operands, golden values, and what the wrong answer looks
// like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/units/mismatch.hpp"
#include "sim/units/rtl_module.hpp"
#include "sim/verify/reference.hpp"
#include "sim/verify/station.hpp"

namespace mantissa::verify {

// Keeps references. The first failure ends a run: the reference need not keep its answers any more.
class Diagnosis {
 public:
  Diagnosis(Reference& reference, RtlModule& rtl) : reference_(reference), rtl_(rtl) {}

  // A foreign device need not have all outputs.
  bool compared(const Station& station, std::size_t output) const;
  // The models gave it; kept to recognise it should it come again.
  void right_answer(const std::optional<Expected>& answer) { previous_ = answer; }

  // `cause`: the transaction that led to it; empty: none did.
  Mismatch failure(const Station& station, const std::string& what, const Transaction& cause,
                   std::uint64_t cycle);
  // With every output, expected and given, and the first wrong stage.
  Mismatch wrong_output(const Station& station, std::size_t output, const Expected& expected,
                        std::uint64_t cycle);

 private:
  void describe_outputs(Mismatch& mismatch, const Station& station, const Expected& expected);
  bool equals(const Station& station, const std::optional<Expected>& expected) const;
  std::string neighbour(const Station& station);

  Reference& reference_;
  RtlModule& rtl_;
  std::optional<Expected> previous_;
};

}  // namespace mantissa::verify
