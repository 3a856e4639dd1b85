// What a compiled device offers to the program that loads it: plain data and functions, so that the device's
// shared object and the program need not agree on anything else.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mantissa_dut_pin {
  const char* name;
  uint32_t bits;
  uint32_t output;  // 1: driven by the device
  void* storage;    // 1, 2, 4 or 8 bytes; above 64 bits an array of 32-bit words, lowest first
};

struct mantissa_dut {
  void* self;
  const struct mantissa_dut_pin* pins;
  uint32_t pin_count;
  void (*eval)(void* self);
  // Waveform and coverage; no effect unless the device was compiled with them. open_wave returns 0 where it
  // cannot write.
  int (*open_wave)(void* self, const char* path);
  void (*dump_wave)(void* self, uint64_t time);
  void (*close_wave)(void* self);
  void (*write_coverage)(void* self, const char* path);
  void (*destroy)(void* self);
};

// The one symbol of the shared object.
typedef struct mantissa_dut* (*mantissa_dut_create)(void);

#ifdef __cplusplus
}
#endif
