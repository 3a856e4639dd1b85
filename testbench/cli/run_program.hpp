// Runs the real program as a user would: arguments and standard input in; output, errors and exit code out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa::test {

struct Finished {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// The program under test.
Finished run_mantissa(const std::vector<std::string>& arguments, std::string_view input = {});
// `script` for bash, with the program on its PATH.
Finished run_shell(const std::string& script);
// The same in an empty directory that goes away afterwards, for a script that leaves files.
Finished run_in_scratch(const std::string& script);

// The program with open pipes, for talking to it line by line.
class Conversation {
 public:
  explicit Conversation(const std::vector<std::string>& arguments);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation();  // closes its input and waits for it

  void say(std::string_view text) const;
  // The next output up to a line end; what came so far if nothing comes for ten seconds.
  std::string hear() const;

 private:
  int to_program_ = -1;
  int from_program_ = -1;
  int process_ = -1;
};

std::vector<std::string> lines_of(const std::string& text);
// A code as the program reads and writes it.
std::string hex(std::uint32_t code, int digits);

}  // namespace mantissa::test
