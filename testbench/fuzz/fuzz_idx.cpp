// Any bytes as a data set's file: refused with std::invalid_argument in one line, or as many elements as the
// sizes say.
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/train/idx.hpp"

namespace {

namespace io = boost::iostreams;

std::vector<char> gzipped(std::span<const char> bytes) {
  std::vector<char> archive;
  io::filtering_ostream out;
  out.push(io::gzip_compressor(io::gzip_params(io::gzip::best_speed)));
  out.push(io::back_inserter(archive));
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.reset();
  return archive;
}

void parse(std::span<const char> archive, std::size_t rank) {
  try {
    const mantissa::train::Idx idx = mantissa::train::parse_idx(archive, "fuzz.gz", rank);
    std::uint64_t elements = 1;
    for (const std::int64_t size : idx.sizes) elements *= static_cast<std::uint64_t>(size);
    if (idx.sizes.size() != rank || idx.elements.size() != elements) __builtin_trap();
  } catch (const std::invalid_argument& error) {
    for (const char c : std::string_view(error.what())) {
      if (c == '\n' || c == '\x1b') __builtin_trap();
    }
  }
}

}  // namespace

// The name and signature are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte: images or labels, and whether the rest is the archive or what is in it. No change of a
  // byte in an archive would get past its sum.
  const std::span<const char> rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t rank = (data[0] & 1) != 0 ? 3 : 1;
  if ((data[0] & 2) != 0) {
    parse(rest, rank);
  } else {
    parse(gzipped(rest), rank);
  }
  return 0;
}
