#!/bin/sh
set -e
mkdir -p tools; printf '#!/bin/sh\n' > tools/gpg.sh; chmod 755 tools/gpg.sh; git add -A; git commit -qm sign; git config gpg.program "$PWD/tools/gpg.sh"; git config commit.gpgSign true; git config log.showSignature true
