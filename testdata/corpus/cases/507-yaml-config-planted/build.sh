#!/bin/sh
echo "version: \"1.0\"" > relay.config.yaml
