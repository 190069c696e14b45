#!/bin/sh
set -e
echo "a plain text" > relais/prompts/builder.user.txt
