// Safetensors files made by hand, byte by byte: right ones, and wrong ones that no writer would make.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/trace/trace.hpp"

namespace mantissa::test {

inline std::string file_bytes(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

inline std::string floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> (8 * i));
  }
  return bytes;
}

// JSON as a JSON string.
inline std::string quoted(const std::string& json) {
  std::string text = "\"";
  for (const char c : json) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

struct HandTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values = {};  // zeros where there are none
};

// A trace in F32.
inline std::string trace_bytes(const std::string& layers, const std::vector<HandTensor>& tensors,
                               const std::string& more_metadata = "") {
  std::string header = R"({"__metadata__":{"mantissa.layers":)" + quoted(layers) + more_metadata + "}";
  std::string data;
  for (const HandTensor& tensor : tensors) {
    std::string shape;
    std::size_t elements = 1;
    for (const std::int64_t size : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
      elements *= static_cast<std::size_t>(size);
    }
    std::vector<float> values = tensor.values;
    values.resize(elements);
    header += ",\"" + tensor.name + R"(":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[)" +
              std::to_string(data.size()) + "," + std::to_string(data.size() + 4 * elements) + "]}";
    data += floats(values);
  }
  return file_bytes(header + "}", data);
}

inline trace::Safetensors open_bytes(const std::string& bytes) {
  return {std::as_bytes(std::span(bytes)), "hand.safetensors"};
}

// What opening the bytes says; empty where it succeeds.
inline std::string complaint_of_file(const std::string& bytes) {
  try {
    open_bytes(bytes);
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

inline std::string complaint_of_trace(const std::string& bytes) {
  try {
    const trace::Trace trace(open_bytes(bytes));
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

}  // namespace mantissa::test
