// `mantissa train` under a real mpirun: the bits of the same run in one process, one voice, ranks that die.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/cli/tiny_data.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Mpi : public testing::Test {
 protected:
  Mpi() {
    write_tiny_data(in("data"), 300, 20);
    write_tiny_network(in("tiny.yaml"));
  }
  std::string in(const std::string& name) const { return scratch_.path() + "/" + name; }

  // What any user may run, root in a container included. Sanitizers would find what Open MPI leaves behind.
  static std::string mpirun(int ranks) {
    return "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0; "
           "mpirun -n " +
           std::to_string(ranks) + " --oversubscribe ";
  }
  std::string train(const std::string& more) const {
    return "mantissa train --net " + in("tiny.yaml") + " --data " + in("data") + " --batch 10 " + more;
  }

  Scratch scratch_;
};

TEST_F(Mpi, FourRanksGiveTheBitsOfFourWorkers) {
  for (const std::string recipe : {"dgc", "dense", "lognormal-sparse"}) {
    const std::string run = train("--epochs 3 --json --recipe " + recipe);
    const Finished ranks = run_shell(mpirun(4) + run);
    const Finished workers = run_shell(run + " --workers 4");
    ASSERT_EQ(ranks.exit_code, 0) << ranks.err;
    ASSERT_EQ(workers.exit_code, 0) << workers.err;
    const Json a = Json::parse(ranks.out);  // of rank 0 alone
    const Json b = Json::parse(workers.out);
    for (const char* key : {"weights_digest", "val_accuracy", "exchange", "workers", "gradients"})
      EXPECT_EQ(a[key], b[key]) << recipe << " " << key;
    EXPECT_EQ(a["workers"], 4);
    EXPECT_EQ(a["exchange"]["steps"], 3 * 8);
    EXPECT_NE(a["weights_digest"], Json::parse(run_shell(run).out)["weights_digest"]);
  }
}

TEST_F(Mpi, OneRankIsAWorkerAlone) {
  const std::string run = train("--epochs 1 --json --recipe fp8");
  const Finished rank = run_shell(mpirun(1) + run);
  ASSERT_EQ(rank.exit_code, 0) << rank.err;
  EXPECT_EQ(Json::parse(rank.out)["weights_digest"], Json::parse(run_shell(run).out)["weights_digest"]);
}

TEST_F(Mpi, OneProcessSpeaksAndWrites) {
  const Finished run = run_shell(
      mpirun(3) + train("--epochs 2 --recipe dgc --out " + in("run.json") + " --checkpoint " + in("c")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto count = [&](const std::string& text) {
    int found = 0;
    for (const std::string& line : lines_of(run.out)) found += contains(line, text) ? 1 : 0;
    return found;
  };
  EXPECT_EQ(count("batch 10 x 3 workers"), 1) << run.out;
  EXPECT_EQ(count("sent by 3 workers: "), 1) << run.out;
  EXPECT_EQ(count("SHA-256 of the weights"), 1) << run.out;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(Json::parse(contents(in("run.json")))["workers"], 3);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator()), 4);
}

TEST_F(Mpi, WhatIsWrongIsSaidOnce) {
  const auto complaint = [&](const std::string& more) {
    const Finished run = run_shell(mpirun(3) + train(more));
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(run.out, "");
    const std::size_t first = run.err.find("mantissa: error: ");
    EXPECT_NE(first, std::string::npos) << run.err;
    EXPECT_EQ(run.err.find("mantissa: error: ", first + 1), std::string::npos) << run.err;
    return run.err;
  };
  EXPECT_TRUE(contains(complaint("--recipe nope"), "unknown recipe 'nope'"));
  EXPECT_TRUE(contains(complaint("--workers 2"), "--workers 2: mpirun has started 3; leave the option out"));
  EXPECT_TRUE(
      contains(complaint("--images 29"), "29 images are less than a batch of 10 for each of 3 workers"));
  // One rank alone has a problem.
  const Finished run =
      run_shell(mpirun(3) + "bash -c 'if [ $OMPI_COMM_WORLD_RANK = 1 ]; then exec mantissa " +
                "train --net gone.yaml; else exec " + train("") + "; fi'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "mantissa: error: rank 1: cannot read gone.yaml: no such file")) << run.err;
}

TEST_F(Mpi, ARunThatDivergesSaysWhereAndEndsOnAllRanks) {
  const Finished run = run_shell(
      mpirun(3) + "mantissa train --net mlp --recipe fp32 --batch 10 --lr 1000 --data " + in("data"));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(contains(run.out, "DIVERGED: worker ")) << run.out;
}

TEST_F(Mpi, ARankThatDiesEndsTheRunAndItGoesOnWithTheSameBits) {
  // Long enough for a fast machine: the run must not end before the kill.
  const std::string run = train("--epochs 400 --recipe dgc --json --checkpoint-steps 5");
  const std::string whole = Json::parse(run_shell(run + " --workers 3").out)["weights_digest"];
  // Rank 1 is killed some steps after the first checkpoint. The mark finds the ranks of this test alone.
  const std::string script = "export MANTISSA_MPI_TEST=" + scratch_.path() + "; " + mpirun(3) + run +
                             " --checkpoint " + in("c") + " >" + in("out") + " 2>" + in("err") +
                             " & run=$!; while [ ! -e " + in("c") +
                             " ] && kill -0 $run; do sleep 0.01; done; "
                             "ranks() { grep -lsz \"^MANTISSA_MPI_TEST=" +
                             scratch_.path() +
                             "\" $(grep -lsz \"^OMPI_COMM_WORLD_RANK=$1\" /proc/[0-9]*/environ); }; "
                             "victim=$(ranks 1 | head -1); victim=${victim#/proc/}; start=$(date +%s%N); "
                             "kill -9 ${victim%/environ}; wait $run; code=$?; "
                             "while [ -n \"$(ranks 0; ranks 2)\" ]; do sleep 0.02; done; "
                             "echo $code $(( ($(date +%s%N) - start) / 1000000 ))";
  const Finished killed = run_shell(script);
  const std::size_t space = killed.out.find(' ');
  ASSERT_NE(space, std::string::npos) << killed.out << killed.err;
  EXPECT_EQ(killed.out.substr(0, space), "137") << contents(in("err"));
  EXPECT_LT(std::stoi(killed.out.substr(space)), 10000);
  const std::string said = contents(in("err"));
  EXPECT_TRUE(contains(said, "rank 1") && contains(said, "signal 9")) << said;
  EXPECT_EQ(contents(in("out")), "");
  fs::copy_file(in("c"), in("c2"));
  const Finished again = run_shell(mpirun(3) + run + " --resume --checkpoint " + in("c"));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["weights_digest"], whole);
  // In one process, too.
  const Finished alone = run_shell(run + " --workers 3 --resume --checkpoint " + in("c2"));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_EQ(Json::parse(alone.out)["weights_digest"], whole);
}

TEST_F(Mpi, ARankThatFailsEndsTheRunWithItsMessage) {
  // Its checkpoint goes to a directory that is taken away under way.
  fs::create_directory(in("gone"));
  const Finished run = run_shell(
      mpirun(3) + train("--epochs 2000 --recipe dgc --checkpoint-steps 5 --checkpoint " + in("gone/c")) +
      " & run=$!; while [ ! -e " + in("gone/c") + " ] && kill -0 $run; do sleep 0.02; done; mv " +
      in("gone") + " " + in("kept") + "; wait $run");
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_TRUE(contains(run.err, "mantissa: error: rank 0: ")) << run.err;
  EXPECT_TRUE(fs::exists(in("kept/c")));
}

TEST(WithoutMpirun, MpiIsNotTouched) {
  // Open MPI's own library reads its files of settings when it starts.
  const Finished run = run_shell("OMPI_MCA_mpi_show_mca_params=all mantissa train --net nope");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
}

}  // namespace
}  // namespace mantissa::test
