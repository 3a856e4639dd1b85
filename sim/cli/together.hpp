// A command that runs as several processes under mpirun: what is wrong is said once, and a process that fails
// takes the others with it.
#pragma once

#include <exception>
#include <string>
#include <type_traits>

#include "sim/cli/commands.hpp"
#include "sim/workers/mpi_group.hpp"

namespace mantissa::cli {

// After it all processes have come as far. What stopped one of them, the first that has something to say, is
// told by rank 0 before any process ends, since mpirun kills the others then; all throw AlreadyTold.
void agree(workers::Group& group, const std::string& problem);
// What went wrong in this process alone; the others do not wait for it.
[[noreturn]] void end_all(const workers::Group& group, const std::string& problem);

// `prepare` gives what `run` needs; all processes begin to run, or none.
template <class Prepare, class Run>
void run_together(const Prepare& prepare, const Run& run) {
  workers::MpiGroup group;
  std::string problem;
  std::invoke_result_t<Prepare, workers::Group&> prepared{};
  try {
    prepared = prepare(group);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  agree(group, problem);
  try {
    run(prepared, group.leads());
  } catch (const std::exception& error) {
    end_all(group, error.what());
  }
}

}  // namespace mantissa::cli
