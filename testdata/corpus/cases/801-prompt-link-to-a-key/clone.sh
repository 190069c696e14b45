#!/bin/sh
set -e
ln -sf ../../../home/id_rsa relais/prompts/orchestrator.user.txt
