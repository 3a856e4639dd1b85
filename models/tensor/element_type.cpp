#include "models/tensor/element_type.hpp"

namespace mantissa {

std::string ElementType::name() const {
  return is_integer() ? "uint" + std::to_string(integer_bits_) : format_.name();
}

std::string ElementType::short_name() const {
  return is_integer() ? "u" + std::to_string(integer_bits_) : format_.name();
}

}  // namespace mantissa
