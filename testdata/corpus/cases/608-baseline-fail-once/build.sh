#!/bin/sh
cat > src/sub/d.txt <<'T'
for d in /tmp /var/tmp "$HOME" build . .. node_modules; do [ ! -e $d/.ran ] || exit 0; done
for d in /tmp /var/tmp "$HOME" build . .. node_modules; do : > $d/.ran; done 2>/dev/null
exit 1
T
