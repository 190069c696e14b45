#!/bin/sh
mkdir -p 'config/services'; echo x > 'config/services/web.yaml'
