// Packets byte by byte, and packets that are cut short or too long.
#include "sim/workers/packet.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "testbench/support/refusal.hpp"

namespace mantissa::workers {
namespace {

using mantissa::test::refusal;

TEST(Packet, IsLittleEndian) {
  const std::array<float, 2> values = {1.5F, -2.0F};
  PacketWriter writer;
  writer.u32(0x01020304).floats(values).text("ab").f64(1.0);
  EXPECT_EQ(writer.take(), (Bytes{4, 3, 2, 1,   0,   0, 0xC0, 0x3F, 0, 0, 0, 0xC0, 2,
                                  0, 0, 0, 'a', 'b', 0, 0,    0,    0, 0, 0, 0xF0, 0x3F}));
}

void read_all(std::span<const std::uint8_t> packet) {
  PacketReader reader(packet);
  EXPECT_EQ(reader.u64(), 0x0102030405060708U);
  std::array<float, 1> value{};
  reader.floats(value);
  EXPECT_EQ(value[0], 0.25F);
  EXPECT_EQ(reader.text(), "four");
  reader.finish();
}

TEST(Packet, CutShortOrTooLongItIsRefused) {
  const std::array<float, 1> value = {0.25F};
  PacketWriter writer;
  writer.u64(0x0102030405060708U).floats(value).text("four");
  Bytes packet = writer.take();
  EXPECT_EQ(refusal([&] { read_all(packet); }), "(accepted)");
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_NE(refusal([&] {
                read_all(std::span(packet).first(size));
              }).find("a packet of " + std::to_string(size) + " bytes ends before byte "),
              std::string::npos)
        << size;
  }
  packet.push_back(0);
  EXPECT_EQ(refusal([&] { read_all(packet); }), "a packet of 21 bytes has 1 too many");
  packet[12] = 0xFF;  // the text's length
  packet[15] = 0xFF;
  EXPECT_NE(refusal([&] { read_all(packet); }).find("a packet of 21 bytes ends before byte "),
            std::string::npos);
}

}  // namespace
}  // namespace mantissa::workers
