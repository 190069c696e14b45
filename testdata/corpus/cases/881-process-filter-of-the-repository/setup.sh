#!/bin/sh
set -e
mkdir -p tools; printf '#!/bin/sh\nexec sed s/^plain/ptr/\n' > tools/clean.sh; printf '#!/bin/sh\nexec sed s/^ptr/plain/\n' > tools/smudge.sh; chmod 755 tools/*.sh
printf '*.dat filter=x -text\n' > .gitattributes; printf 'plain one\nplain two\n' > src/big.dat; printf '#!/bin/sh\nexit 1\n' > tools/serve.sh; git add -A; git commit -qm filter; git config filter.x.process 'sh tools/serve.sh'
