#!/bin/sh
set -e
printf '#!/bin/sh\ntest "$(tail -n +3 /proc/net/dev | wc -l)" = 1\n' > ~/.local/bin/relaytool
