// Two threads for long sweeps: each part returns a description of its first mismatch, or nothing.
#pragma once

#include <string>
#include <thread>
#include <vector>

namespace mantissa::test {

// Runs part(0) ... part(parts - 1), each on a thread of its own; returns the first non-empty description.
template <typename Part>
std::string first_mismatch(int parts, Part part) {
  std::vector<std::string> found(parts);
  {
    std::vector<std::jthread> threads;
    threads.reserve(parts);
    for (int i = 0; i < parts; ++i) {
      threads.emplace_back([&found, &part, i] { found[i] = part(i); });
    }
  }
  for (const std::string& text : found) {
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace mantissa::test
