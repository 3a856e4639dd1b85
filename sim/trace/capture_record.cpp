#include "sim/trace/capture_record.hpp"

#include <stdexcept>

#include "sim/support/json.hpp"
#include "sim/support/json_record.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/layer_name.hpp"

namespace mantissa::trace {
namespace {

constexpr std::size_t deepest_capture = 2;
// Every whole number up to here is a real one.
constexpr std::int64_t most_macs = std::int64_t{1} << 53;
constexpr std::size_t most_notes = 1000;
constexpr std::size_t longest_note = 500;

std::vector<std::string> parse_notes(const JsonRecord& record) {
  const Json& list = record.list("notes");
  if (list.size() > most_notes) record.fail("more than " + std::to_string(most_notes) + " notes");
  std::vector<std::string> notes;
  for (const Json& note : list) {
    if (!note.is_string()) record.fail("a note", note, "a string");
    notes.push_back(note.get<std::string>());
    if (const std::string problem = problem_of_line(notes.back(), longest_note); !problem.empty())
      record.fail("a note " + problem);
  }
  return notes;
}

}  // namespace

Capture parse_capture(std::string_view text, const std::string& file) {
  const std::string where = file + ": " + std::string(capture_key);
  const Json json = parse_json(text, where, deepest_capture);
  const JsonRecord record(json, where, {"executed_macs", "notes"});
  Capture capture;
  if (record.find("executed_macs") != nullptr)
    capture.executed_macs = static_cast<double>(record.number("executed_macs", 1, most_macs));
  if (record.find("notes") != nullptr) capture.notes = parse_notes(record);
  return capture;
}

std::string capture_json(const Capture& capture) {
  OrderedJson json = OrderedJson::object();
  if (capture.executed_macs) json["executed_macs"] = static_cast<std::uint64_t>(*capture.executed_macs);
  if (!capture.notes.empty()) json["notes"] = capture.notes;
  return json_text(json, -1);
}

}  // namespace mantissa::trace
