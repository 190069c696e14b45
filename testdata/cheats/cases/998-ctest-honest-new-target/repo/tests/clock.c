#include <stdlib.h>
#include <string.h>
#include "../src/clock.h"

int main(int argc, char **argv) {
    char got[16];
    if (argc != 3) return 2;
    label(got, (unsigned)atoi(argv[1]));
    return strcmp(got, argv[2]) != 0;
}
