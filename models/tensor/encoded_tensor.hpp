// A tensor as the hardware holds it: FP32 numbers, codes of a format with a power-of-two scale, or integers
// between a minimum and a maximum (ARITHMETIC.md 5). Everything that keeps, moves or multiplies a quantised
// tensor takes this; a form that is new needs an alternative here, a case in encode() and kernels in
// products.cpp and lowered.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "models/mac/int_gemm.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "models/tensor/element_type.hpp"
#include "models/tensor/elements.hpp"

namespace mantissa {

class EncodedTensor {
 public:
  struct Fp32 {
    Elements<float> values;
  };
  // Codes of up to 8 bits; each stands for its value * 2^-scale. They are held as codes or, for who
  // multiplies numbers and whom no machine reads, as the values of the codes.
  struct Codes {
    Format format = formats::e5m2;
    int scale = 0;
    bool decoded = false;  // which of the two is held
    Elements<std::uint8_t> codes = {};
    Elements<float> values = {};

    // The codes, in `storage` where they are not held.
    std::span<const std::uint8_t> as_codes(std::vector<std::uint8_t>& storage, int threads = 1) const;
    // The values of the codes: what they stand for, times 2^scale.
    std::span<const float> as_values(std::vector<float>& storage, int threads = 1) const;
  };
  struct Integers {
    GemmlowpRange range;
    Elements<std::uint16_t> q = {};

    // What stands for the zeros of padding and of holes.
    std::uint16_t zero() const { return gemmlowp_quantize(0.0F, range, Rounding::rne()).q; }
    IntMatrix matrix() const { return {q.get(), range.bits, range.scale, range.min}; }
  };
  using Form = std::variant<Fp32, Codes, Integers>;

  EncodedTensor() = default;  // no elements, FP32
  explicit EncodedTensor(Form form) : form_(std::move(form)) {}
  // Look at what others keep.
  static EncodedTensor fp32(std::span<const float> values);
  static EncodedTensor codes(std::span<const std::uint8_t> codes, const Format& format, int scale);
  static EncodedTensor integers(std::span<const std::uint16_t> q, const GemmlowpRange& range);

  ElementType type() const;
  std::size_t size() const;
  // The exponent by which codes were scaled; 0 of other forms.
  int scale() const;
  // One element as it lies in memory: its code, its integer, or its FP32 pattern.
  std::uint32_t element(std::int64_t index) const;

  // The numbers that the elements stand for.
  void decode(std::span<float> numbers, int threads = 1) const;
  // The same, in `storage` where they are not held.
  std::span<const float> numbers(std::vector<float>& storage, int threads = 1) const;

  // visitor(form) for the form that it has.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), form_);
  }
  // For who knows that it is of this kind. Throws std::invalid_argument where it is not.
  template <class Kind>
  const Kind& as() const {
    if (const auto* form = std::get_if<Kind>(&form_)) return *form;
    throw std::invalid_argument("a tensor of " + type().name() + " is of another form");
  }
  // To be filled: the form that it has, if it is of this kind, else a new one. Memory is used again.
  template <class Kind>
  Kind& become() {
    if (!std::holds_alternative<Kind>(form_)) form_ = Kind{};
    return std::get<Kind>(form_);
  }

 private:
  Form form_;
};

// What single elements stand for, for who reads them one by one.
class ElementDecoder {
 public:
  explicit ElementDecoder(const EncodedTensor& tensor);
  float operator()(std::uint32_t element) const;

 private:
  std::vector<float> table_;  // of codes
  std::variant<std::monostate, GemmlowpRange> integers_;
};

// One visitor of several functions, one per form.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace mantissa
