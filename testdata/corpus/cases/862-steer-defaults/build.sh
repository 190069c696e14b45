#!/bin/sh
mkdir -p 'config'; echo x > 'config/default.yaml'
