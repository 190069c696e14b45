#!/bin/sh
ln -s ../.env src/link2
