#!/bin/sh
set -e
echo "# facts of the team" > relais/FACTS.md
