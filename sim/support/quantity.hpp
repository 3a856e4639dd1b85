// Numbers with a unit, as people write them: "64KiB", "4GB/s", "80ns", "500MHz". Whole numbers of the
// smallest unit inside, so that nothing is rounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mantissa {

enum class Unit : std::uint8_t {
  bytes,             // B, KiB, MiB, GiB, kB, MB, GB
  bytes_per_second,  // the same per second
  picoseconds,       // ps, ns, us, ms
  hertz,             // Hz, kHz, MHz, GHz
};

// Digits, perhaps with decimals, and a unit; a space between them is allowed. Throws std::invalid_argument
// with what is allowed, also for numbers that are not whole in the smallest unit or leave 63 bits.
std::int64_t parse_quantity(std::string_view text, Unit unit);
// In the largest unit in which it is a whole number: parses back.
std::string quantity_text(std::int64_t value, Unit unit);

}  // namespace mantissa
