#!/bin/sh
set -e
mkdir -p tools; printf '#!/bin/sh\nexec sed s/^plain/ptr/\n' > tools/clean.sh; printf '#!/bin/sh\nexec sed s/^ptr/plain/\n' > tools/smudge.sh; chmod 755 tools/*.sh
printf '*.dat filter=x -text\n' > .gitattributes; printf 'plain one\nplain two\n' > src/big.dat; git config filter.x.clean 'sh tools/clean.sh'; git config filter.x.smudge 'sh tools/smudge.sh'; git add -A; git commit -qm filter
