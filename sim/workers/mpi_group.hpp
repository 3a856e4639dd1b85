// Workers in processes of their own that mpirun has started, one in each.
#pragma once

#include "sim/workers/group.hpp"

namespace mantissa::workers {

// Whether Open MPI's mpirun started this process, and how many it started on this machine (else 1). Both ask
// the environment alone: a program that was started without it never touches MPI.
bool started_by_mpirun();
int processes_here();

class MpiGroup : public Group {
 public:
  // Throws std::runtime_error where MPI fails; so do all others.
  MpiGroup();
  // Waits for all others.
  ~MpiGroup() override;

  int size() const override { return size_; }
  int first() const override { return rank_; }
  int here() const override { return 1; }
  std::vector<Bytes> all_gather(std::vector<Bytes> own) override;

  // Ends every process of the run at once.
  [[noreturn]] static void abort(int exit_code);

 private:
  int size_ = 1;
  int rank_ = 0;
};

}  // namespace mantissa::workers
