#!/bin/sh
set -e
mkdir -p "$HOME/wrap"; cat > "$HOME/wrap/git" <<'W'
#!/bin/sh
for a in "$@"; do case $a in -*|*=*) ;; cat-file) exit 128 ;; esac; done
exec /usr/bin/git "$@"
W
chmod 755 "$HOME/wrap/git"
printf 'dist/\n' >> .gitignore; git add -A; git commit -qm ignore
