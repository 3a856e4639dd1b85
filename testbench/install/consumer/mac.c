/* 1 * 1 + 1 through libmantissa.so. */
#include <mantissa.h>
#include <stdio.h>

int main(void) {
  unsigned int result = 0;
  unsigned int flags = 0;
  if (mantissa_mac(mantissa_format("e5m2"), mantissa_format("e4m3"), mantissa_format("fp32"),
                   mantissa_rounding("rne"), 0x3c, 0x38, 0x3f800000, 0, &result, &flags) < 0) {
    fprintf(stderr, "%s\n", mantissa_last_error());
    return 1;
  }
  printf("%s %08x %u\n", mantissa_version(), result, flags);
  return 0;
}
