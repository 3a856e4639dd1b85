#include "sim/trace/safetensors_writer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

#include "models/kernels/quantize.hpp"
#include "sim/support/draft_files.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/widen.hpp"

namespace mantissa::trace {
namespace {

constexpr std::uint64_t piece_elements = std::uint64_t{1} << 20;
// Data begins at a multiple of this, so that a reader may map it as numbers of any type.
constexpr std::size_t alignment = 64;
constexpr std::uint64_t largest_tensor = std::uint64_t{1} << 44;

void lay_out(std::vector<TensorInfo>& tensors) {
  std::set<std::string_view> names;
  std::uint64_t end = 0;
  for (TensorInfo& tensor : tensors) {
    if (!names.insert(tensor.name).second)
      throw std::invalid_argument("tensor " + in_quotes(tensor.name, 250) + " appears twice");
    std::uint64_t bytes = bytes_of(tensor.dtype);
    for (const std::int64_t size : tensor.shape) {
      if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes) ||
          bytes > largest_tensor) {
        throw std::invalid_argument("tensor " + in_quotes(tensor.name, 250) +
                                    " would have more than 2^44 bytes");
      }
    }
    tensor.begin = end;
    tensor.end = end += bytes;
  }
}

std::string header_of(const std::vector<TensorInfo>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  for (const TensorInfo& tensor : tensors) {
    header[tensor.name] = {{"dtype", name_of(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {tensor.begin, tensor.end}}};
  }
  std::string text = json_text(header, -1);
  text.append((alignment - (text.size() + 8) % alignment) % alignment, ' ');
  return text;
}

template <class Element>
std::string_view bytes_view(std::span<const Element> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <class Code>
void write_codes(Output& out, std::span<const float> values, const Format& format) {
  std::vector<Code> codes(values.size());
  kernels::quantize<Code>(values, {.to = format, .overflow = Overflow::saturate}, {}, codes);
  out.text(bytes_view<Code>(codes));
}

void write_values(Output& out, std::span<const float> values, DType dtype) {
  switch (bytes_of(dtype)) {
    case 4:
      out.text(bytes_view(values));
      break;
    case 2:
      write_codes<std::uint16_t>(out, values, format_of(dtype));
      break;
    default:
      write_codes<std::uint8_t>(out, values, format_of(dtype));
  }
}

}  // namespace

std::string safetensors_header(std::vector<TensorInfo> tensors,
                               const std::map<std::string, std::string>& metadata) {
  lay_out(tensors);
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header;
}

void write_safetensors(const std::filesystem::path& path, const std::vector<TensorInfo>& tensors,
                       const std::map<std::string, std::string>& metadata, const TensorSource& source) {
  const std::string header = safetensors_header(tensors, metadata);
  DraftFile file(path.string());
  file.out().text(header);
  std::vector<float> buffer;
  for (const TensorInfo& tensor : tensors) {
    const std::uint64_t elements = tensor.elements();
    for (std::uint64_t first = 0; first < elements; first += piece_elements) {
      buffer.resize(std::min(piece_elements, elements - first));
      source(tensor, first, buffer);
      write_values(file.out(), buffer, tensor.dtype);
    }
  }
  file.publish();
}

}  // namespace mantissa::trace
