#!/bin/sh
[ ! -e .github ]
