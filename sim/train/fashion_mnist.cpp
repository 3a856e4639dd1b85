#include "sim/train/fashion_mnist.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string>

#include "sim/train/idx.hpp"

namespace mantissa::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* images_end = "-images-idx3-ubyte.gz";
constexpr const char* labels_end = "-labels-idx1-ubyte.gz";

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw std::invalid_argument(path.string() + ": " + what);
}

std::string bytes_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    fail(path,
         "no such file, or not a regular one; Fashion-MNIST comes with the Debian package "
         "dataset-fashion-mnist: apt-get install "
         "dataset-fashion-mnist, or name its directory with --data");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be opened");
  if (fs::file_size(path, error) > max_idx_bytes) fail(path, "is too large for Fashion-MNIST");
  std::string bytes(fs::file_size(path), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::size_t>(file.gcount()) != bytes.size()) fail(path, "cannot be read to its end");
  return bytes;
}

Images load(const fs::path& directory, const std::string& prefix) {
  const fs::path image_file = directory / (prefix + images_end);
  const fs::path label_file = directory / (prefix + labels_end);
  Idx images = parse_idx(bytes_of(image_file), image_file.string(), 3);
  Idx labels = parse_idx(bytes_of(label_file), label_file.string(), 1);
  if (images.sizes[0] != labels.sizes[0]) {
    fail(label_file, "has " + std::to_string(labels.sizes[0]) + " labels for " +
                         std::to_string(images.sizes[0]) + " images");
  }
  if (labels.sizes[0] == 0) fail(label_file, "has no labels");
  if (images.elements.empty()) fail(image_file, "has images without pixels");
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

std::vector<fs::path> fashion_mnist_files(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const std::string prefix : {"train", "t10k"}) {
    for (const char* end : {images_end, labels_end}) files.push_back(directory / (prefix + end));
  }
  return files;
}

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
