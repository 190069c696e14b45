#!/bin/sh
set -e
rm -r src/lib; ln -s sub src/lib
rm src/to-sub; mkdir src/to-sub; echo other > src/to-sub/d.txt
