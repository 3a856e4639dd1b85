// Safetensors files: an 8-byte length, a JSON header, raw little-endian tensors. Checked before use, and
// read piece by piece when a value is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/input_file.hpp"

namespace mantissa::trace {

enum class DType : std::uint8_t { f32, f16, bf16, e5m2, e4m3 };
std::string_view name_of(DType dtype);  // "F32", "F16", "BF16", "F8_E5M2", "F8_E4M3"
int bytes_of(DType dtype);
// From its name. Throws std::invalid_argument that lists what exists.
DType parse_dtype(std::string_view name);

struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // in the data part
  std::uint64_t end = 0;

  std::uint64_t elements() const;  // product of the shape, checked not to overflow when the file was opened
};

class Safetensors {
 public:
  // Throws std::invalid_argument that names the file and what is wrong with it: truncated, overlapping,
  // out of bounds, of another size than its shape, an unknown type, a name twice, a gap, not JSON.
  explicit Safetensors(const std::filesystem::path& path);
  // The same checks on bytes in memory, which must outlive the object.
  Safetensors(std::span<const std::byte> bytes, std::string name);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in the order of their data
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const TensorInfo* find(std::string_view name) const;
  std::uint64_t file_bytes() const { return size_; }
  // SHA-256 of the whole file. Throws std::invalid_argument where it was written to since it was opened.
  std::string hash() const { return hash_with(0, {}); }
  // The same as if these bytes stood in it from `offset` on, which must be within the file.
  std::string hash_with(std::uint64_t offset, std::span<const std::byte> instead) const;
  // The file up to its data, as it is: the header's length and the header.
  std::string start() const;
  // Widened exactly to FP32. Throws std::invalid_argument where the file lost the data meanwhile.
  std::vector<float> values(const TensorInfo& tensor) const;
  // The same of `part.size()` elements from `first` on, which must be there: for tensors of any size.
  void values(const TensorInfo& tensor, std::uint64_t first, std::span<float> part) const;

 private:
  void read_header();
  // From anywhere in the file.
  void read(std::uint64_t offset, std::span<std::byte> into) const;

  std::filesystem::path path_;
  std::shared_ptr<const InputFile> file_;  // none for bytes in memory
  std::span<const std::byte> memory_;
  std::uint64_t size_ = 0;
  std::uint64_t data_begin_ = 0;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace mantissa::trace
