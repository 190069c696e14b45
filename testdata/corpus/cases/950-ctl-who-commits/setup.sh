#!/bin/sh
set -e
git config --global user.name 'Ada L'; git config --global user.email ada@example.invalid; git config --global alias.st status
git config --global http.https://git.example/.extraheader 'AUTHORIZATION: basic CANARY'; git config --global url.https://oauth2:CANARYCANARY@git.example/.insteadOf https://git.example/
