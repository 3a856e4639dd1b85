/* The header used from plain C: what a C compiler refuses here, it would refuse for every user. */
#include <stddef.h>

#include "models/capi/mantissa.h"

/* 0, or the line of the first check that failed. */
int check_from_c(void);

#define CHECK(condition) \
  if (!(condition)) return __LINE__

int check_from_c(void) {
  const int e5m2 = mantissa_format("e5m2");
  const int fp32 = mantissa_format("fp32");
  const int rne = mantissa_rounding("rne");
  CHECK(e5m2 > 0);
  CHECK(fp32 > 0);
  CHECK(rne >= 0);
  CHECK(mantissa_format_bits(e5m2) == 8);

  unsigned int code = 0;
  unsigned int flags = 0;
  CHECK(mantissa_encode(e5m2, rne, MANTISSA_IEEE, 1.1, 0, &code, &flags) == 0);
  CHECK(code == 0x3C); /* 1.0 */
  CHECK(flags == MANTISSA_INEXACT);
  double value = 0;
  CHECK(mantissa_decode(e5m2, 0x7B, &value) == 0);
  CHECK(value == 57344.0);

  /* 2 * 3 + 1 */
  CHECK(mantissa_mac(e5m2, e5m2, fp32, rne, 0x40, 0x42, 0x3F800000, 0, &code, NULL) == 0);
  CHECK(code == 0x40E00000);

  CHECK(mantissa_lfsr_next(1, 1, &code) == 0);
  CHECK(code == 0x80200003);

  CHECK(mantissa_format("e9m9") < 0);
  CHECK(mantissa_last_error()[0] != '\0');
  return 0;
}
