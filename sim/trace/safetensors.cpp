#include "sim/trace/safetensors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/support/json.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/sha256.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/widen.hpp"

namespace mantissa::trace {
namespace {

struct NamedType {
  std::string_view name;
  DType dtype;
  int bytes;
};
constexpr std::array<NamedType, 5> types = {{
    {"F32", DType::f32, 4},
    {"F16", DType::f16, 2},
    {"BF16", DType::bf16, 2},
    {"F8_E5M2", DType::e5m2, 1},
    {"F8_E4M3", DType::e4m3, 1},
}};

// Enough for a hundred thousand tensors, and little beside what JSON makes of it in memory.
constexpr std::uint64_t longest_header = std::uint64_t{16} << 20;
constexpr std::size_t most_dimensions = 8;
constexpr std::size_t deepest_header = 3;
constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 18;  // stays in a cache

// Of one tensor; `fail` throws with file and tensor in front.
class TensorRecord {
 public:
  TensorRecord(const std::string& file, std::string name, const Json& record)
      : where_(file + ": tensor " + in_quotes(name, 200)), record_(record) {
    tensor_.name = std::move(name);
    if (!record.is_object()) fail("its entry is not an object with dtype, shape and data_offsets");
    for (const auto& [key, value] : record.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        fail("unknown key " + in_quotes(key) + "; allowed: dtype, shape, data_offsets");
    }
  }

  TensorInfo read(std::uint64_t data_bytes) {
    read_type();
    read_shape();
    const Json& offsets = field("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2) fail("data_offsets is not a pair of whole numbers");
    tensor_.begin = whole_number(offsets[0], "an offset");
    tensor_.end = whole_number(offsets[1], "an offset");
    const std::string range = fmt::format("its data, bytes {} to {},", tensor_.begin, tensor_.end);
    if (tensor_.begin > tensor_.end) fail(range + " end before they begin");
    if (tensor_.end > data_bytes) {
      fail(fmt::format("{} reach beyond the end of the file, which has {} bytes of data", range, data_bytes));
    }
    const std::uint64_t stored = tensor_.end - tensor_.begin;
    if (stored != needed_)
      fail(fmt::format("its shape needs {} bytes, but data_offsets give it {}", needed_, stored));
    return std::move(tensor_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw std::invalid_argument(where_ + ": " + what); }

  const Json& field(const char* key) const {
    const auto found = record_.find(key);
    if (found == record_.end()) fail(std::string("it has no ") + key);
    return *found;
  }

  std::uint64_t whole_number(const Json& value, const char* what) const {
    if (!value.is_number_unsigned())
      fail(fmt::format("{} is {}, not a whole number from 0", what, shortened(value.dump(-1, ' ', true))));
    return value.get<std::uint64_t>();
  }

  void read_type() {
    const Json& type = field("dtype");
    const auto* found = type.is_string()
                            ? std::find_if(types.begin(), types.end(),
                                           [&](const NamedType& known) {
                                             return known.name == type.get_ref<const std::string&>();
                                           })
                            : types.end();
    if (found == types.end()) {
      fail(fmt::format("its dtype is {}; a trace has F32, F16, BF16, F8_E5M2 and F8_E4M3",
                       shortened(type.dump(-1, ' ', true))));
    }
    tensor_.dtype = found->dtype;
  }

  void read_shape() {
    const Json& shape = field("shape");
    if (!shape.is_array()) fail("its shape is not a list");
    if (shape.size() > most_dimensions)
      fail(fmt::format("it has {} dimensions; at most {} are read", shape.size(), most_dimensions));
    needed_ = bytes_of(tensor_.dtype);
    bool empty = false;
    for (const Json& dimension : shape) {
      const std::uint64_t size = whole_number(dimension, "a dimension");
      empty = empty || size == 0;
      // A zero further on must not hide an overflow: elements() multiplies in this order too.
      if (size > INT64_MAX || __builtin_mul_overflow(needed_, std::max<std::uint64_t>(size, 1), &needed_) ||
          needed_ > INT64_MAX) {
        fail("its shape has more than 2^63 bytes");
      }
      tensor_.shape.push_back(static_cast<std::int64_t>(size));
    }
    if (empty) needed_ = 0;
  }

  std::string where_;
  const Json& record_;
  TensorInfo tensor_;
  std::uint64_t needed_ = 0;
};

std::map<std::string, std::string> read_metadata(const Json& metadata, const std::string& file) {
  std::map<std::string, std::string> result;
  if (!metadata.is_object()) throw std::invalid_argument(file + ": __metadata__ is not an object of strings");
  for (const auto& [key, value] : metadata.items()) {
    if (!value.is_string()) {
      throw std::invalid_argument(
          fmt::format("{}: __metadata__: {} is not a string; JSON inside metadata is written as a string",
                      file, in_quotes(key)));
    }
    result.emplace(key, value.get<std::string>());
  }
  return result;
}

// Side by side from the first byte to the last.
void check_layout(const std::vector<TensorInfo>& tensors, std::uint64_t data_bytes, const std::string& file) {
  const TensorInfo* before = nullptr;
  for (const TensorInfo& tensor : tensors) {
    const std::uint64_t expected = before == nullptr ? 0 : before->end;
    if (tensor.begin < expected) {
      throw std::invalid_argument(fmt::format("{}: tensor {} overlaps tensor {}", file,
                                              in_quotes(tensor.name, 200), in_quotes(before->name, 200)));
    }
    if (tensor.begin > expected) {
      throw std::invalid_argument(fmt::format("{}: tensor {}: {} bytes before its data belong to no tensor",
                                              file, in_quotes(tensor.name, 200), tensor.begin - expected));
    }
    before = &tensor;
  }
  const std::uint64_t end = before == nullptr ? 0 : before->end;
  if (end != data_bytes) {
    throw std::invalid_argument(
        fmt::format("{}: the last {} bytes belong to no tensor", file, data_bytes - end));
  }
}

}  // namespace

std::string_view name_of(DType dtype) { return types[static_cast<std::size_t>(dtype)].name; }
int bytes_of(DType dtype) { return types[static_cast<std::size_t>(dtype)].bytes; }

DType parse_dtype(std::string_view name) {
  for (const NamedType& known : types) {
    if (known.name == name) return known.dtype;
  }
  throw std::invalid_argument("no type " + in_quotes(name) +
                              "; allowed: F32, F16, BF16, F8_E5M2 and F8_E4M3");
}

std::uint64_t TensorInfo::elements() const {
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::uint64_t>(size);
  return count;
}

Safetensors::Safetensors(const std::filesystem::path& path)
    : path_(path), file_(std::make_shared<InputFile>(path)), size_(file_->size()) {
  read_header();
}

Safetensors::Safetensors(std::span<const std::byte> bytes, std::string name)
    : path_(std::move(name)), memory_(bytes), size_(bytes.size()) {
  read_header();
}

void Safetensors::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (file_) {
    file_->read(offset, into);
  } else if (!into.empty()) {
    std::memcpy(into.data(), memory_.subspan(offset, into.size()).data(), into.size());
  }
}

void Safetensors::read_header() {
  const std::string file = path_.string();
  const auto fail = [&](const std::string& what) { throw std::invalid_argument(file + ": " + what); };
  if (size_ < length_bytes) {
    fail(fmt::format("no safetensors file: it has {} bytes, and the header's length alone takes {}", size_,
                     length_bytes));
  }
  std::uint64_t length = 0;
  read(0, std::as_writable_bytes(std::span(&length, 1)));
  const std::uint64_t rest = size_ - length_bytes;
  if (length > longest_header) {
    fail(fmt::format(
        "no safetensors file, or a damaged one: its header would have {} bytes, and at most {} are "
        "read",
        length, longest_header));
  }
  if (length > rest)
    fail(fmt::format("truncated: its header should have {} bytes, and {} follow", length, rest));
  std::string text(length, '\0');
  read(length_bytes, std::as_writable_bytes(std::span(text)));
  if (text.empty() || text.front() != '{') fail("no safetensors file: its header does not begin with {");
  data_begin_ = length_bytes + length;
  const std::uint64_t data_bytes = size_ - data_begin_;

  const Json header = parse_json(text, file + ": header", deepest_header);
  // JSON would allow other white space.
  const std::size_t last = text.find_last_not_of(' ');
  if (text[last] != '}') {
    fail(fmt::format("byte {} of its header is {}; after the last }} only spaces may follow", last + 1,
                     in_quotes(std::string_view(text).substr(last, 1))));
  }
  for (const auto& [name, record] : header.items()) {
    if (name == "__metadata__") {
      metadata_ = read_metadata(record, file);
    } else {
      tensors_.push_back(TensorRecord(file, name, record).read(data_bytes));
    }
  }
  const auto place = [](const TensorInfo& t) { return std::tie(t.begin, t.end, t.name); };
  std::sort(tensors_.begin(), tensors_.end(),
            [&](const TensorInfo& a, const TensorInfo& b) { return place(a) < place(b); });
  check_layout(tensors_, data_bytes, file);
  for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

const TensorInfo* Safetensors::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::string Safetensors::start() const {
  std::string bytes(data_begin_, '\0');
  read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string Safetensors::hash_with(std::uint64_t offset, std::span<const std::byte> instead) const {
  Sha256 hash;
  std::vector<std::byte> piece(std::min<std::uint64_t>(size_, piece_bytes));
  for (std::uint64_t at = 0; at < size_; at += piece.size()) {
    const std::span<std::byte> part =
        std::span(piece).first(std::min<std::uint64_t>(piece.size(), size_ - at));
    read(at, part);
    const std::uint64_t from = std::max(at, offset);
    const std::uint64_t to = std::min<std::uint64_t>(at + part.size(), offset + instead.size());
    if (from < to) std::copy_n(instead.data() + (from - offset), to - from, part.data() + (from - at));
    hash.add(part);
  }
  if (file_) file_->check_unchanged();
  return hash.text();
}

std::vector<float> Safetensors::values(const TensorInfo& tensor) const {
  std::vector<float> values(tensor.elements());
  this->values(tensor, 0, values);
  return values;
}

void Safetensors::values(const TensorInfo& tensor, std::uint64_t first, std::span<float> part) const {
  const std::uint64_t element = bytes_of(tensor.dtype);
  std::uint64_t at = data_begin_ + tensor.begin + first * element;
  if (tensor.dtype == DType::f32) {  // as they are
    read(at, std::as_writable_bytes(part));
    return;
  }
  const std::uint64_t most = piece_bytes / element;
  std::vector<std::byte> piece(std::min<std::uint64_t>(part.size(), most) * element);
  while (!part.empty()) {
    const std::span<float> now = part.first(std::min<std::uint64_t>(part.size(), most));
    const std::span<std::byte> bytes = std::span(piece).first(now.size() * element);
    read(at, bytes);
    widen(tensor.dtype, bytes, now);
    at += bytes.size();
    part = part.subspan(now.size());
  }
}

}  // namespace mantissa::trace
