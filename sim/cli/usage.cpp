#include "sim/cli/usage.hpp"

#include <string_view>
#include <vector>

#include "sim/support/user_text.hpp"

namespace mantissa::cli {
namespace {

const auto every_command = [](const auto*) { return true; };

// The subcommand in which parsing stopped.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.back());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string alternatives(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands(every_command)) {
    text += (text.empty() ? "commands are " : " ") + command->get_name();
  }
  text += text.empty() ? "options are" : "; options are";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_name().empty()) text += " " + option->get_name();
  }
  return text;
}

// What stands before, and what behind, the first `separator`.
std::string before(const std::string& text, std::string_view separator) {
  return text.substr(0, text.find(separator));
}
std::string behind(const std::string& text, std::string_view separator) {
  const std::size_t found = text.find(separator);
  return found == std::string::npos ? text : text.substr(found + separator.size());
}

// CLI11's own words do not name the culprit first, or not at all, and show it as it came.
std::string in_our_words(const CLI::App& app, const CLI::ParseError& error) {
  std::string words = error.what();
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string about = behind(words, ": ");  // "--flag = value"
    return before(about, " = ") + " does not take the value " + in_quotes(behind(about, " = "));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return before(words, ":") + (words.ends_with("missing")
                                     ? " needs a value"
                                     : " is given more than once, or with too many values");
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return "unexpected argument " + in_quotes(behind(words, ": "));
  const bool commands = !app.get_subcommands(every_command).empty();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && commands) return "a command is missing";
  return words;
}

std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining();
  for (const std::string& word : unknown) {
    if (word.starts_with('-')) return "unknown option " + in_quotes(word);
  }
  if (unknown.empty()) return in_our_words(app, error);
  return (app.get_subcommands(every_command).empty() ? "unexpected argument " : "unknown command ") +
         in_quotes(unknown.front());
}

}  // namespace

void refuse_empty_values(CLI::App& program) {
  // An empty name of a file or a format would mean "none given" further on.
  const CLI::Validator not_empty(
      [](std::string& text) { return std::string(text.empty() ? "the value is empty" : ""); }, "");
  for (CLI::Option* option : program.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(not_empty);
  }
  for (CLI::App* command : program.get_subcommands(every_command)) refuse_empty_values(*command);
}

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& where = deepest(program);
  return complaint(where, error) + "; " + alternatives(where) + "; see " + full_name(where) + " --help";
}

}  // namespace mantissa::cli
