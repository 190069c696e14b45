#include <stdio.h>
#include "clock.h"

void label(char *to, unsigned n) {
    sprintf(to, "%02u:%02u", n / 60, n % 61);
}
