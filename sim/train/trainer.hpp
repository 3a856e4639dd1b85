// The training loop: batches in a shuffled order, forward, backward, update, validation; all of it a function
// of the seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/update/loss_scale.hpp"
#include "sim/train/fashion_mnist.hpp"
#include "sim/train/model.hpp"
#include "sim/train/recorder.hpp"
#include "sim/train/schedule.hpp"
#include "sim/train/train_report.hpp"
#include "sim/train/worker.hpp"
#include "sim/workers/gradient_exchange.hpp"
#include "sim/workers/group.hpp"
#include "sim/workers/shard.hpp"

namespace mantissa::train {

struct RunOptions {
  std::uint64_t seed = 1;
  std::int64_t epochs = 10;
  std::int64_t batch = 128;  // of each worker
  std::int64_t images = 0;   // train on the first N; 0: all
  int rows = 16;
  int cols = 16;
  int threads = 1;
  TrainingDefaults training;
  int workers = 1;                      // of the whole run; the trainer's group says how many
  std::string configuration;            // hashes of network and recipe: what a checkpoint belongs to
  std::string checkpoint;               // file; empty: none
  std::int64_t checkpoint_steps = 200;  // between two of them
};

// `done` of `total` steps.
using Progress = std::function<void(std::int64_t done, std::int64_t total, const std::string& what)>;
using EpochDone = std::function<void(const TrainReport& report)>;

// The loss of a step or of the validation is not finite.
class Diverged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Overflows and underflows are counted once in this many steps.
inline constexpr std::int64_t count_interval = 64;

// How far a run goes.
struct RunLength {
  std::int64_t images = 0;  // of an epoch
  std::int64_t batch = 1;   // of a step, of all workers
  std::int64_t steps_per_epoch = 1;
  std::int64_t steps = 0;  // in all
};

// Everything that a run is between two steps, besides the model.
struct RunState {
  std::int64_t step = 0;  // that comes next
  EpochReport epoch;      // under way; its sums are not yet divided
  std::vector<EpochReport> history;
  std::vector<std::pair<std::int64_t, int>> loss_scale;
  std::int64_t counted_steps = 0;
  std::vector<GradientReport> gradients;  // of the last step
};

class Trainer {
 public:
  // All must outlive the trainer; the model is that of the first worker of this process. Without a group the
  // run has one worker. Throws std::invalid_argument for options that do not fit the data.
  Trainer(Model& model, const FashionMnist& data, const RunOptions& options, Recorder* recorder = nullptr,
          workers::Group* group = nullptr);

  // Goes on where the checkpoint's run stood. Throws std::invalid_argument for one of another run.
  void resume();
  // To the end. Throws Diverged.
  TrainReport run(const Progress& progress, const EpochDone& epoch_done);

  std::int64_t total_steps() const { return shards_.steps() * options_.epochs; }
  std::int64_t next_step() const { return state_.step; }
  // As far as the run has come.
  TrainReport report() const;

 private:
  void make_workers(Recorder* recorder);
  void make_exchange();
  void train_step();
  WorkerNews all_news(std::vector<workers::Bytes> own, const std::string& place);
  bool apply_gradients(const Step& step, int loss_exponent);
  void share_parameters();
  void average_statistics();
  void validate();
  void finish_epoch();
  void follow_loss_scale(bool skipped);
  Step step_info(bool training) const;
  std::vector<workers::Bytes> tell_all(std::vector<workers::Bytes> own);
  void save();

  Model& model_;
  const FashionMnist& data_;
  RunOptions options_;
  workers::LocalGroup alone_{1};
  workers::Group& group_;
  std::int64_t images_;
  workers::Shards shards_;
  Schedule schedule_;
  std::optional<LossScale> loss_scale_;  // dynamic
  std::vector<std::unique_ptr<Model>> replicas_;
  std::vector<Worker> workers_;  // of this process
  // None where one worker's gradients go to the optimizer as they are.
  std::optional<workers::GradientExchange> exchange_;
  RunState state_;
  std::vector<std::int32_t> order_;  // of the epoch under way
  std::int64_t order_epoch_ = -1;
};

// The order of an epoch's images: a permutation that depends on seed and epoch alone.
std::vector<std::int32_t> shuffled(std::int64_t images, std::uint64_t seed, std::int64_t epoch);

}  // namespace mantissa::train
