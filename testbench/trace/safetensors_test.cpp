// The file format: what is read from right files, and that every kind of wrong one is refused by name.
#include "sim/trace/safetensors.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "sim/support/sha256.hpp"
#include "sim/trace/safetensors_writer.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/refusal.hpp"
#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

using trace::DType;
using trace::Safetensors;
using trace::TensorInfo;
using trace::write_safetensors;

TEST(Safetensors, ReadsWhatIsThere) {
  const std::string bytes = file_bytes(
      R"({"b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},"__metadata__":{"who":"me"},)"
      R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"scalar":{"dtype":"F32","shape":[],"data_offsets":[12,16]}}   )",
      std::string("\x80\x3f\x00\xc0", 4) + floats({3.5F, -0.0F, 7}));
  const Safetensors file = open_bytes(bytes);
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "a");  // in the order of the data
  EXPECT_EQ(file.tensors()[1].shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(file.values(*file.find("a")), (std::vector<float>{1, -2}));
  EXPECT_EQ(file.values(*file.find("b")), (std::vector<float>{3.5F, -0.0F}));
  EXPECT_EQ(file.values(*file.find("scalar")), (std::vector<float>{7}));
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_EQ(file.metadata().at("who"), "me");
  EXPECT_EQ(file.file_bytes(), bytes.size());
  std::vector<float> part(1);
  file.values(*file.find("a"), 1, part);
  EXPECT_EQ(part[0], -2);
}

TEST(Safetensors, EmptyTensorsAndEmptyFilesAreFiles) {
  EXPECT_EQ(complaint_of_file(file_bytes("{}", "")), "");
  const std::string bytes = file_bytes(R"({"z":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]}})", "");
  EXPECT_EQ(open_bytes(bytes).tensors()[0].elements(), 0U);
}

struct RefusedFile {
  const char* what;
  std::string bytes;
  std::vector<std::string> words;
};

std::string one_tensor(const std::string& record, const std::string& data = std::string(8, '\0')) {
  return file_bytes(R"({"x":)" + record + "}", data);
}

std::vector<RefusedFile> refused_files() {
  const std::string deep = std::string(100000, '[');
  std::string huge_length(8, '\xff');
  return {
      {"empty", "", {"0 bytes"}},
      {"shorter than its length", std::string(7, '\0'), {"7 bytes"}},
      {"header beyond the end", file_bytes("{}", "").substr(0, 9), {"truncated"}},
      {"a header of 2^64-1 bytes", huge_length + "{}", {"18446744073709551615"}},
      {"a header of no bytes", file_bytes("", "1234"), {"does not begin with {"}},
      {"a header that begins otherwise", file_bytes(" {}", ""), {"does not begin with {"}},
      {"no JSON", file_bytes("{\"x\"", ""), {"not valid JSON"}},
      {"no UTF-8", file_bytes("{\"\xff\":1}", ""), {"not valid JSON"}},
      {"more after the object", file_bytes("{}{}", ""), {"not valid JSON"}},
      {"a zero byte behind the header", file_bytes(std::string("{}\0", 3), ""), {"zero byte", "byte 3"}},
      {"a zero byte and more", file_bytes(std::string("{}\0garbage}", 11), ""), {"zero byte", "byte 3"}},
      {"a line end behind the header", file_bytes("{}\n", ""), {"after the last }"}},
      {"a tab among the spaces", file_bytes("{} \t ", ""), {"after the last }"}},
      {"a number beyond all", file_bytes(R"({"x":1e999})", ""), {"not valid JSON", "'1e999'"}},
      {"depth", file_bytes("{\"x\":" + deep, ""), {"deeper"}},
      {"a name twice",
       file_bytes(R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"x":1})", "1234"),
       {"'x'", "twice"}},
      {"a key twice", one_tensor(R"({"dtype":"F32","dtype":"F16"})"), {"'dtype'", "twice"}},
      {"metadata no object", file_bytes(R"({"__metadata__":3})", ""), {"__metadata__"}},
      {"metadata no strings", file_bytes(R"({"__metadata__":{"a":{}}})", ""), {"__metadata__", "'a'"}},
      {"a tensor that is a number", one_tensor("3"), {"'x'", "object"}},
      {"no dtype", one_tensor(R"({"shape":[2],"data_offsets":[0,8]})"), {"'x'", "no dtype"}},
      {"no shape", one_tensor(R"({"dtype":"F32","data_offsets":[0,8]})"), {"'x'", "no shape"}},
      {"no offsets", one_tensor(R"({"dtype":"F32","shape":[2]})"), {"'x'", "no data_offsets"}},
      {"an unknown key",
       one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"stride":1})"),
       {"'x'", "'stride'"}},
      {"another type",
       one_tensor(R"({"dtype":"I64","shape":[1],"data_offsets":[0,8]})"),
       {"'x'", "I64", "F8_E4M3"}},
      {"a type that is a number",
       one_tensor(R"({"dtype":1,"shape":[1],"data_offsets":[0,8]})"),
       {"'x'", "dtype"}},
      {"shape no list", one_tensor(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"), {"'x'", "list"}},
      {"negative size", one_tensor(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), {"'x'", "-2"}},
      {"broken size", one_tensor(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"), {"'x'", "2.0"}},
      {"size of 2^64",
       one_tensor(R"({"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,8]})"),
       {"'x'", "1.8446744073709552e+19"}},
      {"size of 2^63",
       one_tensor(R"({"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]})"),
       {"'x'", "2^63"}},
      {"a product that wraps to 8 bytes",
       one_tensor(R"({"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]})"),
       {"'x'", "2^63"}},
      {"an overflow behind a zero",
       one_tensor(R"({"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]})"),
       {"'x'", "2^63"}},
      {"too many dimensions",
       one_tensor(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]})"),
       {"'x'", "9 dimensions"}},
      {"one offset", one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"), {"'x'", "pair"}},
      {"negative offset", one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[-8,0]})"), {"'x'", "-8"}},
      {"backwards", one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), {"'x'", "end before"}},
      {"beyond the end",
       one_tensor(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})"),
       {"'x'", "beyond"}},
      {"offsets that wrap",
       one_tensor(
           R"({"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615]})"),
       {"'x'", "beyond"}},
      {"another size than its shape",
       one_tensor(R"({"dtype":"F16","shape":[2],"data_offsets":[0,8]})"),
       {"'x'", "4 bytes", "8"}},
      {"bytes at the end",
       one_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
       {"last 4 bytes"}},
      {"bytes at the beginning",
       one_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
       {"'x'", "4 bytes before"}},
      {"overlap",
       file_bytes(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                  "12345678"),
       {"'y'", "overlaps", "'x'"}},
      {"an empty tensor inside another",
       file_bytes(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("y":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})",
                  "12345678"),
       {"'y'", "overlaps", "'x'"}},
      {"a number beyond double",
       one_tensor(R"({"dtype":"F32","shape":[1e999],"data_offsets":[0,8]})"),
       {"not valid JSON"}},
  };
}

TEST(Safetensors, RefusesWrongFilesAndSaysWhere) {
  for (const RefusedFile& refused : refused_files()) {
    const std::string complaint = complaint_of_file(refused.bytes);
    EXPECT_EQ(complaint.rfind("hand.safetensors: ", 0), 0U) << refused.what << ": " << complaint;
    for (const std::string& word : refused.words) {
      EXPECT_NE(complaint.find(word), std::string::npos)
          << refused.what << ": no " << word << " in: " << complaint;
    }
  }
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string bytes = trace_bytes(R"([{"name":"a","kind":"linear"}])", {{"s0.a.input", {3, 2}}});
  ASSERT_EQ(complaint_of_file(bytes), "");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(complaint_of_file(bytes.substr(0, length)), "") << length;
  EXPECT_NE(complaint_of_file(bytes + "x"), "");
}

TEST(Safetensors, FilesThatCannotBeMappedAreErrors) {
  const Scratch scratch;
  const auto complaint = [](const std::filesystem::path& path) -> std::string {
    try {
      const Safetensors file(path);
      return {};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  const std::filesystem::path directory = scratch.path();
  EXPECT_NE(complaint(directory).find("is a directory"), std::string::npos);
  EXPECT_NE(complaint(directory / "none").find("no such file"), std::string::npos);
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_NE(complaint(directory / "pipe").find("not a regular file"), std::string::npos);
  std::ofstream(directory / "empty").close();
  EXPECT_NE(complaint(directory / "empty").find("0 bytes"), std::string::npos);
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  const Scratch scratch;
  const std::filesystem::path path = std::filesystem::path(scratch.path()) / "x.safetensors";
  // More than one piece of the writer's, in every type; whole numbers that all types have.
  const std::int64_t many = (1 << 20) + 7;
  const auto value = [](std::uint64_t i) { return static_cast<float>(i % 16) - 8; };
  std::vector<TensorInfo> tensors;
  for (const DType dtype : {DType::e4m3, DType::f32, DType::f16, DType::bf16, DType::e5m2})
    tensors.push_back({std::string(name_of(dtype)), dtype, {many, 1}, 0, 0});
  tensors.push_back({"scalar", DType::f32, {}, 0, 0});
  tensors.push_back({"none", DType::f32, {0, 4}, 0, 0});
  write_safetensors(path, tensors, {{"key", "a \"value\"\n"}},
                    [&](const TensorInfo&, std::uint64_t first, std::span<float> values) {
                      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(first + i);
                    });
  const Safetensors file(path);
  EXPECT_EQ(file.metadata().at("key"), "a \"value\"\n");
  ASSERT_EQ(file.tensors().size(), tensors.size());
  EXPECT_EQ((file.file_bytes() - file.tensors().back().end) % 64, 0U);  // data are aligned
  for (const TensorInfo& tensor : tensors) {
    const TensorInfo* read = file.find(tensor.name);
    ASSERT_NE(read, nullptr) << tensor.name;
    EXPECT_EQ(read->shape, tensor.shape);
    EXPECT_EQ(read->dtype, tensor.dtype);
    const std::vector<float> values = file.values(*read);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] == value(i) ? 0 : 1;
    EXPECT_EQ(wrong, 0U) << tensor.name;
  }
}

TEST(Safetensors, WritingRoundsToNearestAndSaturates) {
  const Scratch scratch;
  const std::filesystem::path path = std::filesystem::path(scratch.path()) / "x.safetensors";
  write_safetensors(path, {{"x", DType::e4m3, {4}, 0, 0}}, {},
                    [](const TensorInfo&, std::uint64_t, std::span<float> values) {
                      const std::vector<float> given{1.0625F, 1.1F, 1e9F, -1e9F};  // 1.0625 is a tie
                      std::copy(given.begin(), given.end(), values.begin());
                    });
  const Safetensors file(path);
  EXPECT_EQ(file.values(file.tensors()[0]), (std::vector<float>{1, 1.125F, 448, -448}));
}

TEST(Safetensors, WritingLeavesNothingWhenItFails) {
  const Scratch scratch;
  const std::filesystem::path path = std::filesystem::path(scratch.path()) / "x.safetensors";
  const auto nothing = [](const TensorInfo&, std::uint64_t, std::span<float>) {};
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THROW(
      write_safetensors(path, {{"x", DType::f32, {1}, 0, 0}, {"x", DType::f32, {1}, 0, 0}}, {}, nothing),
      std::invalid_argument);
  EXPECT_THROW(write_safetensors(path, {{"x", DType::f32, {huge, huge}, 0, 0}}, {}, nothing),
               std::invalid_argument);
  EXPECT_THROW(write_safetensors(path, {{"x", DType::f32, {-1}, 0, 0}}, {}, nothing), std::invalid_argument);
  EXPECT_THROW(write_safetensors(path, {{"x", DType::f32, {1}, 0, 0}}, {},
                                 [](const TensorInfo&, std::uint64_t, std::span<float>) {
                                   throw std::runtime_error("no numbers");
                                 }),
               std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(Safetensors, AFileThatOthersCutShortIsAnError) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/t.safetensors";
  const std::string bytes =
      one_tensor(R"({"dtype":"F32","shape":[16384],"data_offsets":[0,65536]})", std::string(65536, '\1'));
  std::ofstream(path, std::ios::binary) << bytes;
  const Safetensors file(std::filesystem::path{path});
  EXPECT_EQ(file.hash(), sha256(bytes));
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(refusal([&] { (void)file.values(file.tensors()[0]); }),
            "cannot read " + path + ": it became shorter while it was read");
  EXPECT_EQ(refusal([&] { (void)file.hash(); }),
            "cannot read " + path + ": it became shorter while it was read");
}

TEST(Safetensors, AFileThatOthersWroteToHasNoHash) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/t.safetensors";
  std::ofstream(path, std::ios::binary) << one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})");
  const Safetensors file(std::filesystem::path{path});
  std::ofstream(path, std::ios::binary | std::ios::app) << "more";
  EXPECT_NE(refusal([&] { (void)file.hash(); }).find("written to while it was read"), std::string::npos);
}

TEST(Safetensors, NoOtherProgramInheritsTheFile) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/t.safetensors";
  std::ofstream(path, std::ios::binary) << file_bytes("{}", "");
  const Safetensors file(std::filesystem::path{path});
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) != path) continue;
    ++found;
    EXPECT_EQ(fcntl(std::stoi(entry.path().filename()), F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace mantissa::test
