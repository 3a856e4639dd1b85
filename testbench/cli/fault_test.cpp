// Every call that writes, and memory, fails once: the program says so and ends, what was there before is
// still there or what was to come is there as a whole, nothing else is left, and the next run works.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/train/checkpoint_seal.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/cli/tiny_data.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

Files files_below(const fs::path& directory) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = fs::relative(entry.path(), directory).string();
    files[name] = entry.is_directory() ? "a directory" : contents(entry.path());
  }
  return files;
}

bool is_complete(const fs::path& path) {
  const std::string text = contents(path);
  if (path.extension() == ".json") return nlohmann::json::accept(text);
  if (path.filename() == "checkpoint.safetensors") {
    const trace::Safetensors file(path);
    return train::seal_of(file) == file.metadata().at(std::string(train::digest_key));
  }
  if (path.extension() == ".safetensors") return !trace::Safetensors(path).tensors().empty();
  return !text.empty() && text.back() == '\n';
}

class Faults : public testing::Test {
 protected:
  Faults() {
    write_tiny_data(in("data"), 20, 10);
    write_tiny_network(in("tiny.yaml"));
    // Its own tools/plot, which has no matplotlib: drawing is not what is tested here, and takes a second.
    fs::create_directories(in("share/tools"));
    fs::create_directories(in("share/sim"));
    fs::create_symlink(MANTISSA_SOURCE_DIR "/sim/configs", in("share/sim/configs"));
    std::ofstream(in("share/tools/plot")) << "raise SystemExit(3)\n";
  }
  std::string in(const std::string& name) const { return scratch_.path() + "/" + name; }

  std::string train_command(int seed) const {
    return "mantissa train --net " + in("tiny.yaml") + " --data " + in("data") +
           " --epochs 1 --batch 10 --threads 1 --recipe lognormal-sparse --seed " + std::to_string(seed) +
           " --checkpoint " + in("out/checkpoint.safetensors") + " --checkpoint-steps 1 --out " +
           in("out/run.json") + " --record 1 --record-to " + in("out/trace.safetensors");
  }
  Finished run(const std::string& command, const std::string& variables = "") const {
    return run_shell("export MANTISSA_DATA=" + in("share") + "; " + variables + " " + command);
  }
  // Of a run that ends as it should.
  void prepare(const std::string& command) {
    fs::remove_all(in("out"));
    fs::create_directory(in("out"));
    const Finished done = run(command);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    former_ = files_below(in("out"));
  }
  void restore() const {
    fs::remove_all(in("out"));
    fs::create_directory(in("out"));
    for (const auto& [name, text] : former_) {
      if (text == "a directory") {
        fs::create_directories(in("out/" + name));
      } else {
        std::ofstream(in("out/" + name), std::ios::binary) << text;
      }
    }
  }

  // True: the call was made, and failed.
  bool fail(const std::string& command, const std::string& call, long at, int error) const {
    restore();
    fs::remove(in("mark"));
    const Finished done =
        run(command, "MANTISSA_FAIL_CALL=" + call + " MANTISSA_FAIL_AT=" + std::to_string(at) +
                         " MANTISSA_FAIL_WITH=" + std::to_string(error) +
                         " MANTISSA_FAIL_MARK=" + in("mark") + " LD_PRELOAD=" MANTISSA_FAILING_CALLS);
    const bool failed = fs::exists(in("mark"));
    const std::string what = call + " " + std::to_string(at) + " of " + command + ": exit code " +
                             std::to_string(done.exit_code) + ": " + done.err;
    if (done.exit_code != 0) {
      EXPECT_EQ(done.exit_code, 2) << what;
      EXPECT_EQ(done.err.rfind("mantissa: error: ", 0), 0U) << what;
      EXPECT_EQ(lines_of(done.err).size(), 1U) << what;
    } else if (failed) {
      // After fsync a file is complete, and its end cannot fail any more; locks only keep runs apart, and
      // some memory can be done without.
      EXPECT_TRUE(call == "close" || call == "flock" || call == "malloc") << what;
    }
    EXPECT_TRUE(failed || done.exit_code == 0) << what;
    check_files(what);
    return failed;
  }

  void check_files(const std::string& what) const {
    const Files now = files_below(in("out"));
    for (const auto& [name, text] : now) {
      EXPECT_EQ(name.find(".mantissa-"), std::string::npos) << what;
      const auto before = former_.find(name);
      if (before != former_.end() && before->second == text) continue;
      EXPECT_TRUE(text == "a directory" || is_complete(in("out/" + name))) << what << ": " << name;
    }
    for (const auto& [name, text] : former_) EXPECT_TRUE(now.contains(name)) << what << ": " << name;
  }

  void fail_each_write(const std::string& command) const {
    const std::vector<std::pair<std::string, int>> calls = {
        {"write", ENOSPC}, {"rename", EIO},   {"renameat2", EIO}, {"fsync", EIO},
        {"open", ENOSPC},  {"mkdir", ENOSPC}, {"close", EIO},     {"flock", ENOLCK}};
    for (const auto& [call, error] : calls) {
      for (long at = 1; fail(command, call, at, error) && !HasFailure(); ++at) {
      }
      if (HasFailure()) break;
    }
    EXPECT_EQ(run(command).exit_code, 0);
  }

  // Whatever a system writes at once, the files are the same.
  void write_in_parts(const std::string& command) const {
    restore();
    const Finished done = run(command,
                              "MANTISSA_FAIL_CALL=part MANTISSA_FAIL_AT=1 MANTISSA_FAIL_WITH=0 "
                              "MANTISSA_FAIL_MARK=/nowhere LD_PRELOAD=" MANTISSA_FAILING_CALLS);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    check_files(command);
    EXPECT_TRUE(without_times(files_below(in("out"))) == without_times(former_)) << command;
  }
  // Nor what a clock says of a run: a checkpoint has it under its digest.
  static Files without_times(Files files) {
    files.erase("checkpoint.safetensors");
    const auto run = files.find("run.json");
    if (run == files.end()) return files;
    nlohmann::json json = nlohmann::json::parse(run->second);
    for (nlohmann::json& epoch : json.at("history")) epoch.erase("training_seconds");
    run->second = json.dump();
    return files;
  }

  // One in `stride` allocations.
  void fail_allocations(const std::string& command, long stride) const {
    for (long at = 1; fail(command, "malloc", at, ENOMEM) && !HasFailure(); at += stride) {
    }
    EXPECT_EQ(run(command).exit_code, 0);
  }

  std::string replay_command(int seed) const {
    return "mantissa replay " + in("trace.safetensors") + " --threads 1 --seed " + std::to_string(seed) +
           " --out " + in("out/report") + " --csv " + in("out/layers.csv");
  }
  void prepare_replay() {
    prepare(train_command(1));
    fs::copy_file(in("out/trace.safetensors"), in("trace.safetensors"));
    prepare(replay_command(1));
  }
  std::string vectors_command(int seed) const {
    return "mantissa vectors fp32_add --count 3000 --seed " + std::to_string(seed) + " --out " +
           in("out/vectors.hex");
  }
  void fail_allocations_of_all(long stride) {
    prepare(train_command(1));
    fail_allocations(train_command(2), stride);
    prepare_replay();
    fail_allocations(replay_command(2), stride);
    prepare(vectors_command(1));
    fail_allocations(vectors_command(2), stride / 4);
  }

  Scratch scratch_;
  Files former_;
};

TEST_F(Faults, OfWritingAreSurvivedByTraining) {
  prepare(train_command(1));
  fail_each_write(train_command(2));
}

TEST_F(Faults, OfWritingAreSurvivedByReplay) {
  prepare_replay();
  fail_each_write(replay_command(2));
}

TEST_F(Faults, OfWritingAreSurvivedByVectors) {
  prepare(vectors_command(1));
  fail_each_write(vectors_command(2));
}

TEST_F(Faults, WritesInPartsGiveTheSameFiles) {
  prepare(train_command(1));
  write_in_parts(train_command(1));
  prepare_replay();
  write_in_parts(replay_command(1));
  prepare(vectors_command(1));
  write_in_parts(vectors_command(1));
}

TEST_F(Faults, OfMemoryAreSurvived) { fail_allocations_of_all(397); }

using LongFaults = Faults;
TEST_F(LongFaults, OfMemoryAreSurvived) { fail_allocations_of_all(37); }

}  // namespace
}  // namespace mantissa::test
