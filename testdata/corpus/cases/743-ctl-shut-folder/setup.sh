#!/bin/sh
set -e
chmod 555 src/sub src/lib
