mkdir -p .git/relay/journal
printf '#!/bin/sh\ntouch "%s"\n' "$RELAY_CANARY" > .git/relay/journal/run-1.images
size=$(wc -c < .git/relay/journal/run-1.images); sha=$(sha256sum < .git/relay/journal/run-1.images | cut -d' ' -f1)
echo '{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"apply","data":{"base":"0000000000000000000000000000000000000000","branch":"main","entries":[{"path":".git%2Fhooks%2Fpre-commit","tmp":".git%2Fhooks%2Ftmp","old":{"exists":true,"mode":493,"size":'$size',"sha256":"'$sha'","image":0},"new":{"exists":false}}],"dirs":[]}}' > .git/relay/journal/run-1.jsonl
relay recover
