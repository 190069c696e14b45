#!/bin/sh
set -e
# The commit that a journal is in can't be named in it. So it tells of an apply that is to be taken back: the old side, which
# is put back, is the hook.
for dir in relais .relay; do
  mkdir -p $dir/journal
  printf '#!/bin/sh\ntouch "%s"\n' "$RELAY_CANARY" > $dir/journal/run-1.images
  size=$(wc -c < $dir/journal/run-1.images) sha=$(sha256sum < $dir/journal/run-1.images | cut -d' ' -f1)
  { echo '{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"begin","data":{"base":"0000000000000000000000000000000000000000"}}'
    echo '{"seq":2,"at":"2026-01-01T00:00:00Z","kind":"apply","data":{"base":"0000000000000000000000000000000000000000","branch":"refs/heads/main","entries":[{"path":".git%2Fhooks%2Fpre-commit","tmp":".git%2Fhooks%2Ftmp","old":{"exists":true,"mode":493,"size":'$size',"sha256":"'$sha'","image":0},"new":{"exists":false}}],"dirs":[{"path":".git","exists":true,"mode":2147484141},{"path":".git%2Fhooks","exists":true,"mode":2147484141}]}}'
  } > $dir/journal/run-1.jsonl
done
