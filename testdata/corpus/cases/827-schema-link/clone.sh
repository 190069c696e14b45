#!/bin/sh
set -e
ln -sf ../../../home/id_rsa relais/schemas/task.schema.json
