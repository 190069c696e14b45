#!/bin/sh
[ ! -e tests/conftest.py ]
