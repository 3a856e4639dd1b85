#include "sim/bench/openblas.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace mantissa::bench {
namespace {

template <class Function>
Function symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) throw std::runtime_error(std::string("the OpenBLAS here has no ") + name);
  return reinterpret_cast<Function>(address);
}

}  // namespace

OpenBlas::OpenBlas() {
  // Read once, when the library is loaded.
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  } else if (__builtin_cpu_supports("avx2") != 0) {
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  }
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw std::runtime_error(
        "bench compares with OpenBLAS, which is not installed; Debian: apt-get install libopenblas0");
  }
  sgemm_ = symbol<Sgemm>(library, "cblas_sgemm");
  core_name_ = symbol<char* (*)()>(library, "openblas_get_corename");
}

std::string OpenBlas::core_name() const { return core_name_(); }

void OpenBlas::sgemm(int m, int n, int k, const float* a, const float* b, float* c) const {
  constexpr int row_major = 101;
  constexpr int no_transpose = 111;
  sgemm_(row_major, no_transpose, no_transpose, m, n, k, 1.0F, a, k, b, n, 0.0F, c, n);
}

}  // namespace mantissa::bench
