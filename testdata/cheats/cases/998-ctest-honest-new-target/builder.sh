#!/bin/sh
set -e
sed -i 's/n % 61/n % 60/' src/clock.c
sed -i 's,^enable_testing(),add_library(clock src/clock.c)\n&,' CMakeLists.txt
