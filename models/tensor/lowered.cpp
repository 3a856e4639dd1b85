#include "models/tensor/lowered.hpp"

namespace mantissa {

EncodedTensor lowered(const EncodedTensor& tensor, GemmSide side, const ConvShape& shape, Pass pass,
                      std::int64_t group, const Rectangle& part, int threads) {
  const auto lower = [&]<class Element>(std::span<const Element> in, Element zero, Elements<Element>& out) {
    const std::span<Element> to = out.make(part.elements());
    if (side == GemmSide::a) {
      lower_a<Element>(shape, pass, group, part, in, zero, to, threads);
    } else {
      lower_b<Element>(shape, pass, group, part, in, zero, to, threads);
    }
  };
  return tensor.visit(Overloaded{[&](const EncodedTensor::Fp32& form) {
                                   EncodedTensor::Fp32 out;
                                   lower(form.values.get(), 0.0F, out.values);
                                   return EncodedTensor(std::move(out));
                                 },
                                 [&](const EncodedTensor::Codes& form) {
                                   EncodedTensor::Codes out{.format = form.format, .scale = form.scale};
                                   std::vector<std::uint8_t> storage;
                                   lower(form.as_codes(storage, threads), std::uint8_t{0}, out.codes);
                                   return EncodedTensor(std::move(out));
                                 },
                                 [&](const EncodedTensor::Integers& form) {
                                   EncodedTensor::Integers out{.range = form.range};
                                   lower(form.q.get(), form.zero(), out.q);
                                   return EncodedTensor(std::move(out));
                                 }});
}

}  // namespace mantissa
