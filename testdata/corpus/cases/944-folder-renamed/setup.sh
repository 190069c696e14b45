#!/bin/sh
set -e
mkdir -p ~/.aws ~/.ssh ~/.config/gh; for f in .aws/credentials .netrc .ssh/id .config/gh/hosts.yml; do echo CANARY > ~/$f; chmod 600 ~/$f; done
