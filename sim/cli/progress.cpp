#include "sim/cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "sim/support/user_text.hpp"

namespace mantissa::cli {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::show(std::size_t done, std::size_t total, const std::string& what) {
  if (!terminal_) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  const double left =
      done == 0 ? 0 : spent.count() / static_cast<double>(done) * static_cast<double>(total - done);
  // Longer than a line could not be taken away again.
  constexpr std::size_t longest = 60;
  const std::string shown = shortened_in_the_middle(printable(what), longest);
  std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", done, total, shown.c_str());
  if (done != 0) std::fprintf(stderr, ", %.0f s to go", left);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace mantissa::cli
