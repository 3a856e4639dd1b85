#include "testbench/cli/tiny_data.hpp"

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <vector>

namespace mantissa::test {
namespace {

void write_idx(const std::string& path, const std::vector<int>& sizes, int values, std::mt19937& engine) {
  std::string bytes = {0, 0, 8, static_cast<char>(sizes.size())};
  int elements = 1;
  for (const int size : sizes) {
    elements *= size;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  }
  for (int i = 0; i < elements; ++i)
    bytes += static_cast<char>(static_cast<unsigned char>(engine() % static_cast<unsigned>(values)));
  gzFile file = gzopen(path.c_str(), "wb");
  if (gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) <= 0 || gzclose(file) != Z_OK)
    throw std::runtime_error("cannot write " + path);
}

}  // namespace

void write_tiny_data(const std::string& directory, int training, int validation) {
  std::filesystem::create_directories(directory);
  std::mt19937 engine(1);
  for (const auto& [prefix, count] : {std::pair{"/train", training}, std::pair{"/t10k", validation}}) {
    write_idx(directory + prefix + "-images-idx3-ubyte.gz", {count, 28, 28}, 256, engine);
    write_idx(directory + prefix + "-labels-idx1-ubyte.gz", {count}, 10, engine);
  }
}

void write_tiny_network(const std::string& path) {
  std::ofstream(path) << "name: tiny\n"
                         "layers:\n"
                         "  - {kind: max-pool, kernel: 4}\n"
                         "  - {kind: conv, name: conv, out: 2, kernel: 3, stride: 2}\n"
                         "  - {kind: norm, name: norm}\n"
                         "  - {kind: relu}\n"
                         "  - {kind: linear, name: fc, out: 10}\n";
}

}  // namespace mantissa::test
