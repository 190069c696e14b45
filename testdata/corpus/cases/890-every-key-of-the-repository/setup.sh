#!/bin/sh
set -e
mkdir -p tools; printf '#!/bin/sh\nexec sed s/^plain/ptr/\n' > tools/clean.sh; printf '#!/bin/sh\nexec sed s/^ptr/plain/\n' > tools/smudge.sh; chmod 755 tools/*.sh
printf '*.dat filter=x -text\n' > .gitattributes; printf 'plain one\nplain two\n' > src/big.dat; printf '#!/bin/sh\ncat\n' > tools/any.sh; chmod 755 tools/any.sh; git add -A; git commit -qm any
t=$PWD/tools/any.sh; for k in diff.x.command diff.x.textconv diff.external merge.x.driver core.fsmonitor core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand sequence.editor pager.status pager.config pager.log credential.helper credential.https://x.invalid.helper gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand interactive.diffFilter uploadpack.packObjectsHook trailer.see.command trailer.see.cmd gc.recentObjectsHook hook.x.command tar.x.command browser.x.cmd; do git config $k "$t"; done
git config hook.x.event post-index-change; git config alias.status "!$t"; git config alias.update-index "!$t"
