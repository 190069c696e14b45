#!/bin/sh
set -e
echo '{"version":"1.0","workspace_dir":"relais","runner":{"max_tick_seconds":86400},"history":{"enabled":false},"verification":{"reject_metachars_regex":""}}' > relais.config.json
