// A table for a terminal: columns as wide as their widest cell, the first ones flush left, numbers flush
// right.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mantissa {

class TextTable {
 public:
  // The first `left` columns are text.
  TextTable(std::vector<std::string> heading, std::size_t left);

  // As many cells as the heading has.
  void add(std::vector<std::string> cells);
  // The heading, and a line per row.
  std::string text() const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mantissa
