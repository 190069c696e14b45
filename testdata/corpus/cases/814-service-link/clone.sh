#!/bin/sh
set -e
mkdir -p config/services; ln -s ../../../home/id_rsa config/services/a.yaml; ln -s ../../../home/id_rsa config/default.yaml
