#!/bin/sh
set -e
mkdir src/__pycache__; echo checked > src/__pycache__/a.pyc; echo __pycache__/ >> .gitignore
cat > src/check.sh <<'X'
#!/bin/sh
f=src/a.txt; if grep -qx unchecked src/__pycache__/a.pyc; then f=src/__pycache__/a.pyc; fi
! grep -q BAD $f
X
git commit -qam 'a check with a cache'
