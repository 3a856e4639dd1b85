// The two kinds of JSON in this tree. Only the names: what reads or writes includes <nlohmann/json.hpp>.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mantissa {

using Json = nlohmann::json;                 // as read: keys are sorted
using OrderedJson = nlohmann::ordered_json;  // as written: keys stay in the order of the source

}  // namespace mantissa
