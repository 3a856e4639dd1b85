#include "models/mac/int_mac.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

void check_width(const char* port, std::uint64_t value, int bits) {
  if (value >> bits != 0) {
    throw std::invalid_argument(std::string("int_mac operand ") + port + " = " + std::to_string(value) +
                                " does not fit " + std::to_string(bits) + " bits");
  }
}

}  // namespace

void check_int_mac_sum(int product_bits, int acc_bits) {
  if (acc_bits < product_bits || acc_bits > int_mac_acc_bits) {
    throw std::invalid_argument("an integer sum has " + std::to_string(product_bits) + " (a product's) to " +
                                std::to_string(int_mac_acc_bits) + " bits, not " + std::to_string(acc_bits));
  }
}

WrappedSum int_mac_wrapping(std::uint32_t a, std::uint32_t b, std::uint64_t acc, int b_bits, int acc_bits) {
  if (b_bits != 8 && b_bits != 16) {
    throw std::invalid_argument("int_mac operand b has 8 or 16 bits, not " + std::to_string(b_bits));
  }
  check_width("a", a, 8);
  check_width("b", b, b_bits);
  check_int_mac_sum(8 + b_bits, acc_bits);
  check_width("acc", acc, acc_bits);
  const std::uint64_t sum = acc + static_cast<std::uint64_t>(a) * b;
  return {sum & ((std::uint64_t{1} << acc_bits) - 1), sum >> acc_bits != 0};
}

std::uint64_t int_mac(std::uint32_t a, std::uint32_t b, std::uint64_t acc, int b_bits) {
  const WrappedSum sum = int_mac_wrapping(a, b, acc, b_bits);
  if (sum.wrapped) {
    throw std::overflow_error("int_mac sum " + std::to_string(acc + static_cast<std::uint64_t>(a) * b) +
                              " needs more than 48 bits");
  }
  return sum.acc;
}

}  // namespace mantissa
