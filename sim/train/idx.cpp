#include "sim/train/idx.hpp"

#include <algorithm>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <stdexcept>

namespace mantissa::train {
namespace {

namespace io = boost::iostreams;

// Up to `most` more bytes at the end of `bytes`; fewer where the archive ends.
void unzip(io::filtering_istreambuf& in, std::vector<std::uint8_t>& bytes, std::size_t most) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (most > 0) {
    const std::size_t used = bytes.size();
    const std::size_t wanted = std::min(piece, most);
    bytes.resize(used + wanted);
    const auto got = static_cast<std::size_t>(
        in.sgetn(reinterpret_cast<char*>(bytes.data()) + used, static_cast<std::streamsize>(wanted)));
    bytes.resize(used + got);
    if (got < wanted) return;
    most -= got;
  }
}

Idx read(io::filtering_istreambuf& in, const std::string& name, std::size_t rank) {
  const auto fail = [&](const std::string& what) { throw std::invalid_argument(name + ": " + what); };
  const std::size_t header = 4 + 4 * rank;
  std::vector<std::uint8_t> bytes;
  unzip(in, bytes, header);
  if (bytes.size() < header || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8 || bytes[3] != rank)
    fail("is not an IDX file of unsigned bytes with " + std::to_string(rank) + " dimensions");
  Idx idx;
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint64_t size = 0;
    for (std::size_t j = 0; j < 4; ++j) size = size << 8 | bytes[4 + 4 * i + j];
    idx.sizes.push_back(static_cast<std::int64_t>(size));
    elements = size != 0 && elements > max_idx_bytes / size ? max_idx_bytes + 1 : elements * size;
  }
  if (elements > max_idx_bytes) fail("is too large for Fashion-MNIST, by the sizes in its header");
  // One more than there should be, which also makes the archive check its own sum at its end.
  unzip(in, idx.elements, elements + 1);
  if (idx.elements.size() != elements) {
    const bool more = idx.elements.size() > elements;
    fail("has " + (more ? "more" : std::to_string(idx.elements.size())) + " elements, but its header says " +
         std::to_string(elements));
  }
  return idx;
}

}  // namespace

Idx parse_idx(std::span<const char> gzipped, const std::string& name, std::size_t rank) {
  constexpr std::streamsize piece = 1 << 16;
  io::filtering_istreambuf in;
  in.push(io::gzip_decompressor(io::gzip::default_window_bits, piece));
  in.push(io::array_source(gzipped.data(), gzipped.size()), piece);
  try {
    return read(in, name, rank);
  } catch (const std::ios_base::failure&) {
    throw std::invalid_argument(name + ": is damaged: gzip cannot read all of it");
  }
}

}  // namespace mantissa::train
