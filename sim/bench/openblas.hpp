// OpenBLAS as a measuring stick: loaded at run time, after telling it which kernels this CPU deserves.
#pragma once

#include <string>

namespace mantissa::bench {

class OpenBlas {
 public:
  // Debian's OpenBLAS does not know newer CPUs and falls back to slow generic kernels, so the core type is
  // set here, unless the user has set OPENBLAS_CORETYPE. One thread. Throws std::runtime_error if the library
  // is missing.
  OpenBlas();

  // The kernels it really uses.
  std::string core_name() const;
  // C[m,n] = A[m,k] B[k,n], row-major.
  void sgemm(int m, int n, int k, const float* a, const float* b, float* c) const;

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                         float*, int);
  Sgemm sgemm_;
  char* (*core_name_)();
};

}  // namespace mantissa::bench
