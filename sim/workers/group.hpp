// The workers of a data-parallel run, some or all of them in this process, and what they do together.
#pragma once

#include <cstdint>
#include <vector>

namespace mantissa::workers {

using Bytes = std::vector<std::uint8_t>;

class Group {
 public:
  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  virtual ~Group() = default;

  virtual int size() const = 0;
  // Of this process: workers first(), first() + 1, .. `here()` of them.
  virtual int first() const = 0;
  virtual int here() const = 0;
  // The process of worker 0 speaks and writes for all.
  bool leads() const { return first() == 0; }

  // Everyone's packet, in ascending order of workers. Every process must call it as often as all others, with
  // a packet of each worker it has.
  virtual std::vector<Bytes> all_gather(std::vector<Bytes> own) = 0;
};

// All of them in this process.
class LocalGroup : public Group {
 public:
  explicit LocalGroup(int workers) : workers_(workers) {}
  int size() const override { return workers_; }
  int first() const override { return 0; }
  int here() const override { return workers_; }
  std::vector<Bytes> all_gather(std::vector<Bytes> own) override { return own; }

 private:
  int workers_;
};

}  // namespace mantissa::workers
