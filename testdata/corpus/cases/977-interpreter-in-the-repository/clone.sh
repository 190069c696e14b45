#!/bin/sh
mkdir tools; printf '#!/bin/sh\necho ran >> "$RELAY_CANARY"; echo sk-ant-of-the-clone\n' > tools/run; chmod 755 tools/run
