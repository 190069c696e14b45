#!/bin/sh
set -e
echo BAD >> src/a.txt
mkdir build/mine; printf '#!/bin/sh\nexit 0\n' > build/mine/tool; chmod 755 build/mine/tool
rm build/tools; ln -s mine build/tools; build/tools/tool
