// SHA-256 against the vectors of FIPS 180-4, and against sha256sum for all lengths around its 64-byte blocks.
#include "sim/support/sha256.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "sim/support/process.hpp"
#include "testbench/cli/scratch.hpp"

namespace mantissa::test {
namespace {

TEST(Sha256, StandardVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsWhatSha256sumPrints) {
  const Scratch scratch;
  std::vector<std::string> command = {"sha256sum"};
  std::string expected;
  for (int length = 0; length <= 130; ++length) {
    std::string bytes;
    for (int i = 0; i < length; ++i) bytes += static_cast<char>(255 - 7 * i);
    const std::string path = scratch.path() + "/" + std::to_string(length);
    std::ofstream(path) << bytes;
    command.push_back(path);
    expected += sha256(bytes) + "  " + path + "\n";
  }
  EXPECT_EQ(run_process(command).output, expected);
}

}  // namespace
}  // namespace mantissa::test
