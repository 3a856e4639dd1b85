#include "sim/support/json_text.hpp"

#include <set>
#include <stdexcept>
#include <vector>

#include "sim/support/json.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

using Event = Json::parse_event_t;

// nlohmann's message without its own error number.
std::string reason(const Json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  return shortened(end == std::string_view::npos ? text : text.substr(end + 2), 200);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, std::size_t deepest) {
  std::vector<std::set<std::string>> keys;  // of every object and array that is open
  const auto watch = [&](int, Event event, const Json& parsed) {
    if (event == Event::object_start || event == Event::array_start) {
      if (keys.size() == deepest) {
        throw std::invalid_argument(where + ": JSON nested deeper than " + std::to_string(deepest) +
                                    " levels");
      }
      keys.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      keys.pop_back();
    } else if (event == Event::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(name).second)
        throw std::invalid_argument(where + ": " + in_quotes(name, 200) + " appears twice");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::exception& error) {
    throw std::invalid_argument(where + ": not valid JSON: " + reason(error));
  }
}

}  // namespace mantissa
