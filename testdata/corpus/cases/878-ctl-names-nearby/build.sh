#!/bin/sh
mkdir -p src/config; echo x > src/prd.json; echo x > src/config/default.yaml; echo x > prd.json.md; echo x > relais.md; echo x > src/makefile.md; echo x > docs/config.services.md
