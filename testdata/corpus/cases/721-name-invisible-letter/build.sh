#!/bin/sh
for c in '\343\205\244' '\315\217' '\363\240\204\200'; do echo x > "src/a$(printf "$c").txt"; done
