#include "sim/train/fashion_mnist.hpp"

#include <algorithm>
#include <array>
#include <boost/iostreams/device/file.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <stdexcept>
#include <string>

namespace mantissa::train {
namespace {

namespace fs = std::filesystem;
namespace io = boost::iostreams;

// The largest file of the set has 45 MiB; twice that is no such file.
constexpr std::size_t max_bytes = std::size_t{96} << 20;

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw std::invalid_argument(path.string() + ": " + what);
}

std::vector<std::uint8_t> unzipped(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    fail(path,
         "no such file, or not a regular one; Fashion-MNIST comes with the Debian package "
         "dataset-fashion-mnist: apt-get install "
         "dataset-fashion-mnist, or name its directory with --data");
  }
  constexpr std::streamsize piece = 1 << 20;
  io::filtering_istreambuf in;
  in.push(io::gzip_decompressor(io::gzip::default_window_bits, piece));
  const io::file_source file(path.string(), std::ios::binary);
  if (!file.is_open()) fail(path, "cannot be opened");
  in.push(file, piece);
  std::vector<std::uint8_t> bytes;
  try {
    for (std::streamsize got = piece; got == piece;) {
      const std::size_t used = bytes.size();
      if (used > max_bytes) fail(path, "is too large for Fashion-MNIST");
      bytes.resize(used + piece);
      got = in.sgetn(reinterpret_cast<char*>(bytes.data()) + used, piece);
      bytes.resize(used + got);
    }
  } catch (const std::ios_base::failure&) {
    fail(path, "is damaged: gzip cannot read all of it");
  }
  return bytes;
}

// IDX: two zero bytes, the type (8: unsigned bytes), the number of sizes, the sizes big-endian, the elements.
struct Idx {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> elements;
};

Idx read_idx(const fs::path& path, std::size_t rank) {
  std::vector<std::uint8_t> bytes = unzipped(path);
  const std::size_t header = 4 + 4 * rank;
  if (bytes.size() < header || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8 || bytes[3] != rank)
    fail(path, "is not an IDX file of unsigned bytes with " + std::to_string(rank) + " dimensions");
  Idx idx;
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint64_t size = 0;
    for (std::size_t j = 0; j < 4; ++j) size = size << 8 | bytes[4 + 4 * i + j];
    idx.sizes.push_back(static_cast<std::int64_t>(size));
    elements = size != 0 && elements > max_bytes / size ? max_bytes + 1 : elements * size;
  }
  if (elements != bytes.size() - header) {
    fail(path, "has " + std::to_string(bytes.size() - header) + " elements, but its header says " +
                   (elements > max_bytes ? "far more" : std::to_string(elements)));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  idx.elements = std::move(bytes);
  return idx;
}

Images load(const fs::path& directory, const std::string& prefix) {
  const fs::path image_file = directory / (prefix + "-images-idx3-ubyte.gz");
  const fs::path label_file = directory / (prefix + "-labels-idx1-ubyte.gz");
  Idx images = read_idx(image_file, 3);
  Idx labels = read_idx(label_file, 1);
  if (images.sizes[0] != labels.sizes[0]) {
    fail(label_file, "has " + std::to_string(labels.sizes[0]) + " labels for " +
                         std::to_string(images.sizes[0]) + " images");
  }
  if (labels.sizes[0] == 0) fail(label_file, "has no labels");
  const auto bad = std::find_if(labels.elements.begin(), labels.elements.end(),
                                [](std::uint8_t label) { return label >= FashionMnist::classes; });
  if (bad != labels.elements.end()) {
    fail(label_file, "label " + std::to_string(bad - labels.elements.begin()) + " is " +
                         std::to_string(*bad) + "; there are " + std::to_string(FashionMnist::classes) +
                         " classes");
  }
  return {images.sizes[1], images.sizes[2], std::move(images.elements), std::move(labels.elements)};
}

}  // namespace

FashionMnist load_fashion_mnist(const fs::path& directory) {
  FashionMnist set{load(directory, "train"), load(directory, "t10k")};
  if (set.training.height != set.validation.height || set.training.width != set.validation.width)
    fail(directory, "training and validation images have different sizes");
  return set;
}

std::span<const float, 256> normalised_pixels() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values{};
    for (int pixel = 0; pixel < 256; ++pixel)
      values[pixel] = static_cast<float>((pixel / 255.0 - 0.2860) / 0.3530);
    return values;
  }();
  return table;
}

}  // namespace mantissa::train
