#include "sim/cli/together.hpp"

#include <vector>

#include "sim/support/output.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::cli {

namespace {

void tell_error(const std::string& problem) {
  constexpr std::size_t longest = 2000;
  tell_user("mantissa: error: " + shortened_in_the_middle(printable(problem), longest));
}

std::string of_rank(std::size_t rank, const std::string& problem) {
  return "rank " + std::to_string(rank) + ": " + problem;
}

}  // namespace

void agree(workers::Group& group, const std::string& problem) {
  const std::vector<workers::Bytes> problems = group.all_gather({{problem.begin(), problem.end()}});
  for (std::size_t rank = 0; rank < problems.size(); ++rank) {
    if (problems[rank].empty()) continue;
    const std::string text(problems[rank].begin(), problems[rank].end());
    if (group.leads()) tell_error(rank == 0 ? text : of_rank(rank, text));
    throw AlreadyTold{};
  }
}

void end_all(const workers::Group& group, const std::string& problem) {
  constexpr int bad_input = 2;
  tell_error(of_rank(static_cast<std::size_t>(group.first()), problem));
  workers::MpiGroup::abort(bad_input);
}

}  // namespace mantissa::cli
