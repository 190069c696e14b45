#!/bin/sh
echo x > 'Relay.Config.YAML'
