#include "sim/workers/mpi_group.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace mantissa::workers {
namespace {

// 0: it is not set, or no number.
int environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const std::string_view digits(text);
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw std::runtime_error(std::string(what) +
                           " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

// Open MPI's own wait asks without a pause, which takes the processor from ranks that still compute where
// there are more ranks than processors.
void sleep_until_done(MPI_Request request, const char* what) {
  constexpr int patience = 200;
  constexpr std::chrono::microseconds pause(50);
  for (int asked = 0;; ++asked) {
    int done = 0;
    check(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return;
    if (asked > patience) std::this_thread::sleep_for(pause);
  }
}

}  // namespace

bool started_by_mpirun() { return environment_number("OMPI_COMM_WORLD_SIZE") > 0; }

int processes_here() { return std::max(1, environment_number("OMPI_COMM_WORLD_LOCAL_SIZE")); }

MpiGroup::MpiGroup() {
  int provided = 0;
  // Kernels have threads of their own; one thread alone calls MPI.
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "the start of MPI");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "the start of MPI");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "the start of MPI");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "the start of MPI");
}

MpiGroup::~MpiGroup() { MPI_Finalize(); }

void MpiGroup::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

std::vector<Bytes> MpiGroup::all_gather(std::vector<Bytes> own) {
  const Bytes& packet = own.at(0);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const std::int64_t length = std::min<std::int64_t>(static_cast<std::int64_t>(packet.size()), most);
  const auto sent = static_cast<std::uint32_t>(length);
  std::vector<std::uint32_t> lengths(size_);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&sent, 1, MPI_UINT32_T, lengths.data(), 1, MPI_UINT32_T, MPI_COMM_WORLD, &request),
        "the exchange of lengths");
  sleep_until_done(request, "the exchange of lengths");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "the exchange of lengths");
  // Whatever is too long is too long for all, who say so together.
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (total >= most)
    throw std::runtime_error("the workers' packets have 2 GiB together, more than MPI sends at a time");
  if (total == 0) return std::vector<Bytes>(size_);

  const std::vector<int> counts(lengths.begin(), lengths.end());
  std::vector<int> places(size_);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  Bytes all(static_cast<std::size_t>(total));
  check(MPI_Iallgatherv(packet.data(), static_cast<int>(length), MPI_BYTE, all.data(), counts.data(),
                        places.data(), MPI_BYTE, MPI_COMM_WORLD, &request),
        "the exchange of packets");
  sleep_until_done(request, "the exchange of packets");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "the exchange of packets");
  std::vector<Bytes> packets;
  for (int rank = 0; rank < size_; ++rank) {
    const auto first = all.begin() + places[rank];
    packets.emplace_back(first, first + counts[rank]);
  }
  return packets;
}

}  // namespace mantissa::workers
