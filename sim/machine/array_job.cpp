#include "sim/machine/array_job.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

void check_job(const ArrayJob& job, const ArrayFormats& formats) {
  const auto fits = [](std::int64_t rows, std::int64_t cols, std::size_t size) {
    return static_cast<std::size_t>(rows * cols) == size;
  };
  const std::string size = "a GEMM of M " + std::to_string(job.m) + ", N " + std::to_string(job.n) + ", K " +
                           std::to_string(job.k);
  if (job.a.type() != formats.a || job.b.type() != formats.b) {
    refuse("operands of " + job.a.type().name() + " x " + job.b.type().name() + " on an array of " +
           formats.a.name() + " x " + formats.b.name());
  }
  if (formats.integers()) {
    check_int_gemm({job.m, job.n, job.k, job.a.as<EncodedTensor::Integers>().matrix(),
                    job.b.as<EncodedTensor::Integers>().matrix()},
                   static_cast<std::size_t>(job.m * job.n));
  } else if (!fits(job.m, job.k, job.a.size()) || !fits(job.k, job.n, job.b.size())) {
    refuse(size + " does not fit its operands");
  }
  if (!job.bias.empty() && !fits(1, job.n, job.bias.size()))
    refuse(size + " has " + std::to_string(job.bias.size()) + " biases; it takes one per column or none");
  if (job.c_scale < -128 || job.c_scale > 127)
    refuse("a drain quantizer has scales of -128..127, not " + std::to_string(job.c_scale));
  const GemmShape shape = shape_of(job, formats);
  if (shape.a_bits < formats.a.bits() || shape.b_bits < formats.b.bits() || shape.c_bits < formats.c_bits())
    refuse("an element has at least as many bits in memory as its format");
  if (job.first_tile < 0) refuse("tiles are numbered from 0");
  if (!formats.stochastic()) return;
  job.draws.check();
  if (job.draws.leap != formats.leap) {
    refuse("draws with a leap of " + std::to_string(job.draws.leap) + " on an array whose generators leap " +
           std::to_string(formats.leap));
  }
}

}  // namespace mantissa
