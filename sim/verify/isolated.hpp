// Runs a piece of work in a process of its own: the SystemC kernel elaborates once per process, and a device
// that crashes or ends the program takes only its own run with it.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace mantissa::verify {

using ReportProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;
// From any thread of the process: ends it with this result, whatever the others are doing.
using EndWith = std::function<void(const std::string& result)>;
using IsolatedWork = std::function<std::string(const ReportProgress&, const EndWith&)>;

// The process ended without a result.
class ProcessDied : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// Returns what `work` returned. Rethrows its std::exception as the same message in std::invalid_argument or
// std::runtime_error; throws ProcessDied where the process died. `progress` is called here, with what
// `work` reports there.
std::string run_isolated(const IsolatedWork& work, const ReportProgress& progress);

}  // namespace mantissa::verify
