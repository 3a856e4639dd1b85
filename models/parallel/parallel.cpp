#include "models/parallel/parallel.hpp"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace mantissa {
namespace {

// This thread is inside of a run: what it calls stays on it.
thread_local bool running = false;

// Threads that take runs of one job at a time. Never destroyed: its threads wait until the process ends.
class Pool {
 public:
  // False: another job is under way.
  bool run(std::int64_t count, const std::function<void(std::int64_t)>& job) {
    const std::unique_lock one_job(job_mutex_, std::try_to_lock);
    if (!one_job.owns_lock()) return false;
    std::unique_lock lock(mutex_);
    grow(count - 1);
    job_ = &job;
    next_ = 0;
    count_ = count;
    unfinished_ = count;
    wake_.notify_all();
    // Whoever is there first takes the next run, so nobody waits for a thread that has no processor.
    take_runs(lock);
    finished_.wait(lock, [this] { return unfinished_ == 0; });
    job_ = nullptr;
    return true;
  }

 private:
  void grow(std::int64_t threads) {
    while (threads_ < threads) {
      try {
        std::thread([this] { work(); }).detach();
      } catch (const std::system_error&) {
        return;  // no more threads to be had: those that are there take the runs
      }
      ++threads_;
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return next_ < count_; });
      take_runs(lock);
    }
  }

  void take_runs(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
      const std::int64_t mine = next_++;
      const auto& job = *job_;
      lock.unlock();
      running = true;
      job(mine);
      running = false;
      lock.lock();
      if (--unfinished_ == 0) finished_.notify_one();
    }
  }

  std::mutex job_mutex_;
  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  std::condition_variable finished_;
  const std::function<void(std::int64_t)>* job_ = nullptr;
  std::int64_t next_ = 0;
  std::int64_t count_ = 0;
  std::int64_t unfinished_ = 0;
  std::int64_t threads_ = 0;
};

// A forked child has none of its parent's threads: it makes a pool of its own.
Pool& pool() {
  static std::mutex mutex;
  static Pool* current = nullptr;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  if (owner != getpid()) {
    current = new Pool;
    owner = getpid();
  }
  return *current;
}

}  // namespace

void run_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& run) {
  if (!running && count > 1 && pool().run(count, run)) return;
  for (std::int64_t i = 0; i < count; ++i) run(i);
}

}  // namespace mantissa
