// The golden side of a unit whose transactions form streams: tensors, channels. A derived class makes one
// stream after the other, with the golden model's answers to each of its transactions.
#pragma once

#include <deque>
#include <functional>

#include "sim/verify/reference.hpp"

namespace mantissa::verify {

class StreamReference : public Reference {
 public:
  // A unit may hold an input while it answers, so the answers are expected from the moment of the offer on.
  Transaction stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    while (beats_.empty()) {
      coverage_.defer(&hits_);
      make_stream(streams_++, dice);
      coverage_.defer(nullptr);
      if (!beats_.empty()) beats_.back().hits.insert(beats_.back().hits.end(), hits_.begin(), hits_.end());
      hits_.clear();
    }
    Beat beat = std::move(beats_.front());
    beats_.pop_front();
    for (const int bin : beat.hits) coverage_.hit(bin);
    Transaction inputs = beat.inputs;
    if (beat.answers > 0) owed_.push_back(std::move(beat));
    return inputs;
  }
  void accept(const Transaction& /*inputs*/) override {}

  std::optional<Expected> next() override {
    if (owed_.empty()) return std::nullopt;
    const Beat& beat = owed_.front();
    Expected expected{beat.answer(given_++), beat.inputs};
    if (given_ == beat.answers) {
      owed_.pop_front();
      given_ = 0;
    }
    return expected;
  }
  bool drained() const override { return owed_.empty(); }

 protected:
  // An input, and the outputs that it leads to. They are made when they are due: one input may lead to a
  // million.
  struct Beat {
    Transaction inputs;
    std::size_t answers = 0;
    std::function<Transaction(std::size_t)> answer = {};
    std::vector<int> hits = {};  // bins that it falls into
  };
  // Adds the beats of stream number `index`: corners first, then random ones. A bin that is hit on the way
  // counts when the beat that is added next is driven, the last ones with the stream's last beat.
  virtual void make_stream(std::uint64_t index, stimulus::Dice& dice) = 0;
  void add(Transaction inputs) { add(Beat{std::move(inputs)}); }
  void add(Transaction inputs, Transaction output) {
    add(Beat{std::move(inputs), 1, [output = std::move(output)](std::size_t) { return output; }});
  }
  void add(Beat beat) {
    beat.hits = std::move(hits_);
    hits_.clear();
    beats_.push_back(std::move(beat));
  }

 private:
  std::vector<int> hits_;   // of the beat that is being made
  std::deque<Beat> beats_;  // not yet offered
  std::deque<Beat> owed_;   // offered, not yet answered
  std::size_t given_ = 0;   // answers to the first of them
  std::uint64_t streams_ = 0;
};

}  // namespace mantissa::verify
