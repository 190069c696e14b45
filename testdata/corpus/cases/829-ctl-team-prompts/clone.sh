#!/bin/sh
set -e
echo "You write for the team. {{TASK_JSON}}" > relais/prompts/builder.user.txt
