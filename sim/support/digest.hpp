// A short name for a text: for caches, and for reports that say what they were made of.
#pragma once

#include <string>
#include <string_view>

namespace mantissa {

// Two chained 64-bit hashes, 32 hexadecimal digits; no defence against forgery.
std::string digest(std::string_view text);

}  // namespace mantissa
