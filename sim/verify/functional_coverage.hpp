// Functional coverage: which kinds of operands and results a run has met. A bin is declared before the run,
// so that an empty one shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa::verify {

class FunctionalCoverage {
 public:
  struct Bin {
    std::string name;
    std::uint64_t hits = 0;
    std::string unreachable = {};  // why nothing can fall into it; empty: it must be hit
  };

  // The new bin's number.
  int declare(std::string name) {
    bins_.push_back({std::move(name)});
    return static_cast<int>(bins_.size()) - 1;
  }
  void hit(int bin) {
    if (deferred_ != nullptr) {
      deferred_->push_back(bin);
    } else {
      ++bins_[bin].hits;
    }
  }
  void hit_if(bool condition, int bin) {
    if (condition) hit(bin);
  }
  // From now on hits are noted there instead of counted, until they are due; nullptr: counted again.
  void defer(std::vector<int>* hits) { deferred_ = hits; }
  // Bins whose name begins so cannot be hit, for this reason. A hit shows the reason to be wrong: the bin
  // then counts as any other.
  void exclude(const std::string& prefix, const std::string& reason) {
    for (Bin& bin : bins_) {
      if (bin.name.rfind(prefix, 0) == 0) bin.unreachable = reason;
    }
  }

  const std::vector<Bin>& bins() const { return bins_; }

 private:
  std::vector<Bin> bins_;
  std::vector<int>* deferred_ = nullptr;
};

}  // namespace mantissa::verify
