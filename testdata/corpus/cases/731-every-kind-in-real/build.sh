#!/bin/sh
cp src/a.txt docs/here
cd "$RELAY_REAL" || exit 0
rm src/b.txt; mkdir src/b.txt; echo EVIL > src/b.txt/in; mkfifo docs/pipe; rm docs/guide.md; mkfifo docs/guide.md
mv src/lib src/lib2; ln -s ../docs src/lib; printf EVIL > "docs/$(printf 'a\nb\033[2J')"; printf EVIL > docs/$(printf '\377\376')
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "docs/sock", Listen => 1)'
chmod 000 tests; chmod 0 README.md; mkdir -m 555 docs/shut; mkdir docs/shut2; echo EVIL > docs/shut2/f; chmod 000 docs/shut2/f; chmod 555 docs/shut2
ln package.json docs/hard; rm tools/cfgcheck; ln -s /etc/passwd tools/cfgcheck; touch -d 2001-01-01 Makefile; chmod 777 .; rm -rf node_modules; mkdir .git/objects/.relay-put-back; echo > .git/objects/.relay-put-back/x
o=$(find .git/objects -type f | head -n1); d=$(dirname $o); chmod 644 $o; echo EVIL > $o; mkdir $d/.relay-put-back; echo > $d/.relay-put-back/x
echo EVIL > .git/hooks/pre-commit; rm -rf .git/refs/tags; git branch evil; rm .git/index
exit 0
