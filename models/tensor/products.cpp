#include "models/tensor/products.hpp"

#include <stdexcept>
#include <string>

#include "models/kernels/conv.hpp"
#include "models/kernels/gemm.hpp"
#include "models/kernels/gemm_float.hpp"
#include "models/kernels/int_conv.hpp"
#include "models/tensor/lowered.hpp"

namespace mantissa {
namespace {

using Fp32 = EncodedTensor::Fp32;
using Codes = EncodedTensor::Codes;
using Integers = EncodedTensor::Integers;

[[noreturn]] void refuse(const EncodedTensor& a, const EncodedTensor& b) {
  throw std::invalid_argument("no unit multiplies " + a.type().name() + " by " + b.type().name());
}

[[noreturn]] void refuse(Pass pass) {
  throw std::invalid_argument("pass " + std::string(name_of(pass)) + " multiplies no matrices");
}

// visitor(a, b) where both have the same form.
template <class Visitor>
void visit_pair(const EncodedTensor& a, const EncodedTensor& b, const Visitor& visitor) {
  a.visit([&]<class Form>(const Form& first) {
    b.visit([&]<class Other>(const Other& second) {
      if constexpr (std::is_same_v<Form, Other>) {
        visitor(first, second);
      } else {
        refuse(a, b);
      }
    });
  });
}

void float_conv(const ConvShape& shape, Pass pass, std::span<const float> first,
                std::span<const float> second, std::span<float> sums, int threads) {
  switch (pass) {
    case Pass::forward:
      return kernels::conv_forward(shape, first, second, sums, threads);
    case Pass::input_gradient:
      return kernels::conv_input_gradient(shape, first, second, sums, threads);
    case Pass::weight_gradient:
      return kernels::conv_weight_gradient(shape, first, second, sums, threads);
    case Pass::update:
      break;
  }
  refuse(pass);
}

void int_conv(const ConvShape& shape, Pass pass, const kernels::IntTensor& first,
              const kernels::IntTensor& second, std::span<float> sums, int threads) {
  switch (pass) {
    case Pass::forward:
      return kernels::int_conv_forward(shape, first, second, sums, threads);
    case Pass::input_gradient:
      return kernels::int_conv_input_gradient(shape, first, second, sums, threads);
    case Pass::weight_gradient:
      return kernels::int_conv_weight_gradient(shape, first, second, sums, threads);
    case Pass::update:
      break;
  }
  refuse(pass);
}

// Accumulators that no convolution kernel has: the lowered matrices through the GEMM kernels, which have all.
void lowered_conv(const ConvShape& shape, Pass pass, const EncodedTensor& first, const EncodedTensor& second,
                  const GemmOptions& options, std::span<float> sums, int threads) {
  const PassSides sides = sides_of(shape, pass);
  const auto [m, n, k] = sides;
  std::vector<float> product(shape.groups * m * n);
  GemmOptions group_options = options;
  for (std::int64_t group = 0; group < shape.groups; ++group) {
    gemm(sides, lowered(first, GemmSide::a, shape, pass, group, {0, m, 0, k}, threads),
         lowered(second, GemmSide::b, shape, pass, group, {0, k, 0, n}, threads), group_options,
         std::span(product).subspan(group * m * n, m * n), threads);
    group_options.first_tile += tiles_of(sides, options.rows, options.draws.lanes);
  }
  in_tensor_order(shape, pass, product, sums);
}

}  // namespace

GemmCounts gemm(const PassSides& sides, const EncodedTensor& a, const EncodedTensor& b,
                const GemmOptions& options, std::span<float> sums, int threads) {
  GemmCounts counts;
  visit_pair(
      a, b,
      Overloaded{
          [&](const Fp32& x, const Fp32& y) {
            kernels::gemm_float({sides.m, sides.n, sides.k, x.values.get(), y.values.get()}, sums, threads);
          },
          [&](const Codes& x, const Codes& y) {
            std::vector<std::uint8_t> x_storage;
            std::vector<std::uint8_t> y_storage;
            counts = kernels::gemm({sides.m, sides.n, sides.k, x.as_codes(x_storage, threads),
                                    y.as_codes(y_storage, threads), x.format, y.format},
                                   options, sums, threads);
          },
          [&](const Integers& x, const Integers& y) {
            kernels::int_gemm({sides.m, sides.n, sides.k, x.matrix(), y.matrix()}, sums, threads);
          }});
  return counts;
}

void conv(const ConvShape& shape, Pass pass, const EncodedTensor& first, const EncodedTensor& second,
          const GemmOptions& options, std::span<float> sums, int threads) {
  visit_pair(
      first, second,
      Overloaded{[&](const Fp32& x, const Fp32& y) {
                   float_conv(shape, pass, x.values.get(), y.values.get(), sums, threads);
                 },
                 [&](const Codes& x, const Codes& y) {
                   if (!options.accumulator.is_fp32_rne()) {
                     lowered_conv(shape, pass, first, second, options, sums, threads);
                     return;
                   }
                   // Products of codes are exact in FP32, so each sum is one fused operation.
                   std::vector<float> x_storage;
                   std::vector<float> y_storage;
                   float_conv(shape, pass, x.as_values(x_storage, threads), y.as_values(y_storage, threads),
                              sums, threads);
                 },
                 [&](const Integers& x, const Integers& y) {
                   int_conv(shape, pass, {x.matrix(), x.zero()}, {y.matrix(), y.zero()}, sums, threads);
                 }});
}

}  // namespace mantissa
