#!/bin/sh
set -e
echo 'EVILPROMPT {{PROJECT_GOAL}}' > relais/prompts/orchestrator.user.txt
echo '{"version":"1.0","workspace_dir":"relais"}' > relais.config.json
