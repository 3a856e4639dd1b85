// Processes of one worker each, as threads: what MPI does, without MPI.
#pragma once

#include <barrier>
#include <vector>

#include "sim/workers/group.hpp"

namespace mantissa::train::test {

// Where the packets of one round lie.
struct Meeting {
  explicit Meeting(int workers) : packets(static_cast<std::size_t>(workers)), barrier(workers) {}
  std::vector<workers::Bytes> packets;
  std::barrier<> barrier;
};

class ThreadGroup : public workers::Group {
 public:
  ThreadGroup(Meeting& meeting, int worker) : meeting_(meeting), worker_(worker) {}
  int size() const override { return static_cast<int>(meeting_.packets.size()); }
  int first() const override { return worker_; }
  int here() const override { return 1; }
  std::vector<workers::Bytes> all_gather(std::vector<workers::Bytes> own) override {
    meeting_.packets[static_cast<std::size_t>(worker_)] = std::move(own.front());
    meeting_.barrier.arrive_and_wait();
    std::vector<workers::Bytes> all = meeting_.packets;
    meeting_.barrier.arrive_and_wait();  // before the next round writes
    return all;
  }

 private:
  Meeting& meeting_;
  int worker_;
};

}  // namespace mantissa::train::test
