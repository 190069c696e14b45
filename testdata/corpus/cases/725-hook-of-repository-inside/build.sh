#!/bin/sh
echo 'in scope' >> src/a.txt; touch vendor/sub/x; git -C vendor/sub status
printf '#!/bin/sh\ntouch "%s"\n' "$RELAY_CANARY" > vendor/sub/.git/hooks/post-checkout; chmod +x vendor/sub/.git/hooks/post-checkout
