#!/bin/sh
set -e
mkdir -p bin; printf '#!/bin/sh\n' > bin/tool; chmod 755 bin/tool; git add -A; git commit -qm bin
