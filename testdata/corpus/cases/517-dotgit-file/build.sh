#!/bin/sh
mkdir src/mod; echo "gitdir: /tmp/evil" > src/mod/.git; echo x > src/mod/x
