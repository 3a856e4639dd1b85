#include "sim/train/fashion_mnist.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa::train {
namespace {

namespace fs = std::filesystem;
using mantissa::test::refusal;
using mantissa::test::Scratch;

TEST(FashionMnist, TheRealOne) {
  const FashionMnist data = load_fashion_mnist(fashion_mnist_directory);
  EXPECT_EQ(data.training.count(), 60000);
  EXPECT_EQ(data.validation.count(), 10000);
  EXPECT_EQ(data.training.height, 28);
  EXPECT_EQ(data.training.width, 28);
  // Every class as often as every other.
  for (int label = 0; label < FashionMnist::classes; ++label)
    EXPECT_EQ(std::count(data.training.labels.begin(), data.training.labels.end(), label), 6000) << label;
  // Normalised pixels have mean 0 and deviation 1 over the training images.
  const auto table = normalised_pixels();
  double sum = 0;
  double squares = 0;
  for (const std::uint8_t pixel : data.training.pixels) {
    sum += static_cast<double>(table[pixel]);
    squares += static_cast<double>(table[pixel]) * static_cast<double>(table[pixel]);
  }
  const auto n = static_cast<double>(data.training.pixels.size());
  EXPECT_NEAR(sum / n, 0, 1e-3);
  EXPECT_NEAR(std::sqrt(squares / n), 1, 1e-3);
}

void write_gz(const fs::path& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

std::string idx(std::initializer_list<int> sizes, const std::string& elements) {
  std::string bytes = {0, 0, 8, static_cast<char>(sizes.size())};
  for (const int size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  }
  return bytes + elements;
}

// Two images of 1 x 2 with labels 3 and 9, for training and validation.
class SmallSet : public testing::Test {
 protected:
  SmallSet() {
    for (const char* prefix : {"train", "t10k"}) {
      write_gz(file(prefix, "images-idx3"), idx({2, 1, 2}, "abcd"));
      write_gz(file(prefix, "labels-idx1"), idx({2}, {3, 9}));
    }
  }
  fs::path file(const std::string& prefix, const std::string& what) const {
    return fs::path(scratch_.path()) / (prefix + "-" + what + "-ubyte.gz");
  }
  std::string complaint() const {
    return refusal([&] { load_fashion_mnist(scratch_.path()); });
  }
  Scratch scratch_;
};

TEST_F(SmallSet, Reads) {
  const FashionMnist data = load_fashion_mnist(scratch_.path());
  EXPECT_EQ(data.training.count(), 2);
  EXPECT_EQ(data.training.image(1)[0], 'c');
  EXPECT_EQ(data.validation.labels[1], 9);
}

TEST_F(SmallSet, AMissingFileNamesThePackage) {
  fs::remove(file("t10k", "labels-idx1"));
  EXPECT_NE(complaint().find("t10k-labels-idx1-ubyte.gz: no such file"), std::string::npos);
  EXPECT_NE(complaint().find("apt-get install dataset-fashion-mnist"), std::string::npos);
}

TEST_F(SmallSet, DamagedFilesAreRefusedByName) {
  const auto refused = [&](const std::string& what, const std::string& bytes, const std::string& why) {
    const fs::path path = file("train", what);
    write_gz(path, bytes);
    EXPECT_NE(complaint().find(path.string() + ": " + why), std::string::npos) << complaint();
  };
  refused("images-idx3", idx({2, 1, 2}, "abc"), "has 3 elements, but its header says 4");
  refused("images-idx3", idx({2, 1, 2}, "abcde"), "has more elements, but its header says 4");
  refused("images-idx3", idx({0x7fffffff, 0x7fffffff, 2}, "abcd"),
          "is too large for Fashion-MNIST, by the sizes in its header");
  refused("images-idx3", idx({2, 0, 2}, ""), "has images without pixels");
  refused("images-idx3", "short", "is not an IDX file");
  refused("images-idx3", idx({2, 2}, "abcd"), "is not an IDX file");
  write_gz(file("train", "images-idx3"), idx({2, 1, 2}, "abcd"));
  refused("labels-idx1", idx({1}, {3}), "has 1 labels for 2 images");
  refused("labels-idx1", idx({2}, {3, 10}), "label 1 is 10");
}

TEST_F(SmallSet, ATruncatedArchiveIsNotAShortFile) {
  const fs::path path = file("train", "images-idx3");
  write_gz(path, idx({2, 1, 2}, "abcd"));
  while (fs::file_size(path) > 0) {
    fs::resize_file(path, fs::file_size(path) - 1);
    EXPECT_NE(complaint().find(path.string() + ": is damaged"), std::string::npos) << complaint();
  }
}

// Some bits of an archive say nothing of its content: the time, the file's name, what fills the last byte up.
TEST_F(SmallSet, DamageIsRefusedOrChangesNothing) {
  const fs::path path = file("train", "images-idx3");
  const std::string good = mantissa::test::contents(path);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    std::ofstream(path) << bad;
    if (const std::string why = complaint(); why != "(accepted)") {
      ++refused;
      // The header is looked at before the archive's sum can be: either may be what is wrong.
      EXPECT_NE(why.find(path.string() + ": "), std::string::npos) << i << why;
      continue;
    }
    const std::vector<std::uint8_t> pixels = load_fashion_mnist(scratch_.path()).training.pixels;
    EXPECT_EQ(std::string(pixels.begin(), pixels.end()), "abcd") << i;
  }
  EXPECT_GT(refused, good.size() / 2);
}

TEST_F(SmallSet, NothingMayFollowTheArchive) {
  const fs::path path = file("train", "images-idx3");
  std::ofstream(path, std::ios::app) << "garbage";
  EXPECT_NE(complaint().find(path.string() + ": is damaged"), std::string::npos) << complaint();
}

// The most memory that this process has had, in MiB.
long peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

// What it would become is never made: not in memory, and not a piece at a time.
TEST_F(SmallSet, AnArchiveThatGrowsIsRefusedEarly) {
  const fs::path path = file("train", "images-idx3");
  const std::string zeros(std::size_t{1} << 20, '\0');
  for (const std::string& start : {idx({2, 1, 2}, "abcd"), idx({60000, 28, 28}, ""), std::string("x")}) {
    gzFile out = gzopen(path.c_str(), "wb1");
    gzwrite(out, start.data(), static_cast<unsigned>(start.size()));
    for (int i = 0; i < 500; ++i) gzwrite(out, zeros.data(), static_cast<unsigned>(zeros.size()));
    gzclose(out);
    const long before = peak_memory();
    EXPECT_NE(complaint().find(path.string() + ": "), std::string::npos) << complaint();
    EXPECT_LT(peak_memory() - before, 300);
  }
}

TEST_F(SmallSet, AFileTooLargeIsNotRead) {
  const fs::path path = file("train", "images-idx3");
  fs::resize_file(path, std::uintmax_t{1} << 33);  // one hole
  EXPECT_NE(complaint().find(path.string() + ": is too large"), std::string::npos) << complaint();
}

}  // namespace
}  // namespace mantissa::train
