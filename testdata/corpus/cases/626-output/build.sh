#!/bin/sh
yes "$(head -c 4000 /dev/zero | tr '\0' x)" | head -c 1000000000
