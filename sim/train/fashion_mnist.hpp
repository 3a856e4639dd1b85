// Fashion-MNIST: 60,000 images to train with and 10,000 to validate with, 28 x 28, ten classes. The files are
// gzipped IDX, as Debian's package dataset-fashion-mnist has them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace mantissa::train {

struct Images {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;  // [count, height, width]
  std::vector<std::uint8_t> labels;  // [count], below `classes`

  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
  std::span<const std::uint8_t> image(std::int64_t index) const {
    return std::span(pixels).subspan(index * height * width, height * width);
  }
};

struct FashionMnist {
  static constexpr int classes = 10;
  Images training;
  Images validation;
};

inline constexpr const char* fashion_mnist_directory = "/usr/share/datasets/fashion-mnist";

// Throws std::invalid_argument that names the file and what is wrong with it, or the package to install.
FashionMnist load_fashion_mnist(const std::filesystem::path& directory);

// The four files of the set.
std::vector<std::filesystem::path> fashion_mnist_files(const std::filesystem::path& directory);

// A pixel as the network reads it: (p/255 - 0.2860) / 0.3530, mean and deviation of the training images.
std::span<const float, 256> normalised_pixels();

}  // namespace mantissa::train
