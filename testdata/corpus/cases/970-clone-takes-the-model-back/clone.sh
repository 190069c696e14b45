#!/bin/sh
echo '{"orchestrator":{"provider":"claude"},"models":{"orchestrator_model":"opus"}}' > relay.config.json
