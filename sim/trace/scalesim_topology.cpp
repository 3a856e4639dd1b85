#include "sim/trace/scalesim_topology.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sim/support/input_file.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/layer_shapes.hpp"

namespace mantissa::trace {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 24;
constexpr std::size_t longest_line = 4096;
constexpr std::size_t most_lines = 65536;
constexpr std::uint64_t largest_file = longest_line * most_lines;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\"";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// Without the empty field that a comma at the end of the line makes.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  return fields;
}

class TopologyReader {
 public:
  TopologyReader(std::string file, std::int64_t batch) : file_(std::move(file)), batch_(batch) {}

  Network read(std::istream& csv) {
    for (std::string line; std::getline(csv, line);) {
      ++line_;
      if (line.size() > longest_line || line_ > most_lines)
        fail("longer than any topology; is this a text file?");
      const std::vector<std::string_view> fields = fields_of(line);
      if (fields.empty()) continue;
      if (!heading_seen_) {
        read_heading(fields);
      } else {
        read_layer(fields);
      }
    }
    if (!heading_seen_) throw std::invalid_argument(file_ + ": empty; a topology begins with a heading line");
    if (network_.empty()) throw std::invalid_argument(file_ + ": no layers after the heading line");
    network_.front().layer.input_gradient = false;
    network_.front().values = InputValues::dense;
    return std::move(network_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(fmt::format("{}: line {}: {}", file_, line_, what));
  }

  void read_heading(const std::vector<std::string_view>& fields) {
    heading_seen_ = true;
    if (fields.size() == 4) {
      gemm_ = true;
    } else if (fields.size() != 8 && fields.size() != 9) {
      fail(fmt::format(
          "a heading has 8 columns (Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, "
          "Channels, Num Filter, Strides) or 4 (Layer, M, N, K), not {}",
          fields.size()));
    }
    std::int64_t ignored = 0;
    const std::string_view second = fields[1];
    if (std::from_chars(second.data(), second.data() + second.size(), ignored).ec == std::errc())
      fail("this looks like a layer; the first line must be a heading, which is skipped");
    if (gemm_ && batch_ != 1) fail("a GEMM topology has its batch in M; --batch must be 1");
  }

  std::int64_t number(std::string_view text, const char* column) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > largest_size) {
      fail(
          fmt::format("{} is {}; it must be a whole number in 1..{}", column, in_quotes(text), largest_size));
    }
    return value;
  }

  std::string name(std::string_view text) {
    if (text.empty()) fail("the layer has no name");
    if (shortened(text, 200) != text)
      fail("the layer's name " + in_quotes(text) + " is not printable ASCII of at most 200 characters");
    const auto [first, added] = lines_.emplace(text, line_);
    if (!added)
      fail(fmt::format("layer {} is already on line {}; names must differ", in_quotes(text), first->second));
    return std::string(text);
  }

  void read_layer(const std::vector<std::string_view>& fields) {
    NetworkLayer made;
    if (gemm_) {
      if (fields.size() != 4) fail("4 columns are needed, not " + std::to_string(fields.size()));
      made.layer.name = name(fields[0]);
      made.layer.kind = LayerKind::linear;
      const std::int64_t m = number(fields[1], "M");
      const std::int64_t n = number(fields[2], "N");
      const std::int64_t k = number(fields[3], "K");
      made.input = {m, k};
      made.weight = {n, k};
      made.output = {m, n};
    } else {
      if (fields.size() != 8 && fields.size() != 9)
        fail("8 columns are needed, not " + std::to_string(fields.size()));
      made.layer.name = name(fields[0]);
      read_convolution(fields, made);
    }
    made.values = InputValues::relu;
    network_.push_back(std::move(made));
  }

  void read_convolution(const std::vector<std::string_view>& fields, NetworkLayer& made) const {
    made.layer.kind = LayerKind::conv2d;
    const std::int64_t height = number(fields[1], "IFMAP Height");
    const std::int64_t width = number(fields[2], "IFMAP Width");
    const std::int64_t rows = number(fields[3], "Filter Height");
    const std::int64_t columns = number(fields[4], "Filter Width");
    const std::int64_t channels = number(fields[5], "Channels");
    const std::int64_t filters = number(fields[6], "Num Filter");
    made.layer.stride = {number(fields[7], "Strides"), number(fields.back(), "Strides")};
    if (made.layer.stride[0] > 65536 || made.layer.stride[1] > 65536) fail("Strides are above 65536");
    if (rows > height || columns > width) {
      fail(fmt::format("a filter of {}x{} is larger than its input, {}x{}, and this format has no padding",
                       rows, columns, height, width));
    }
    made.input = {batch_, channels, height, width};
    made.weight = {filters, channels, rows, columns};
    made.output = {batch_, filters, convolved_size(height, rows, made.layer.stride[0], 0, 1),
                   convolved_size(width, columns, made.layer.stride[1], 0, 1)};
  }

  std::string file_;
  std::int64_t batch_;
  std::size_t line_ = 0;
  bool heading_seen_ = false;
  bool gemm_ = false;
  std::map<std::string, std::size_t, std::less<>> lines_;
  Network network_;
};

}  // namespace

Network read_scalesim_topology(std::istream& csv, const std::string& file, std::int64_t batch) {
  return TopologyReader(file, batch).read(csv);
}

Network read_scalesim_topology(const std::filesystem::path& path, std::int64_t batch) {
  std::istringstream csv(whole_file(path, largest_file));
  return read_scalesim_topology(csv, path.string(), batch);
}

}  // namespace mantissa::trace
