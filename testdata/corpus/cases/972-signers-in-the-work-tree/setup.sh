#!/bin/sh
set -e
echo 'user@example.invalid ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' > signers
git add signers && git commit -qm signers && git config gpg.ssh.allowedSignersFile "$PWD/signers"
