#!/bin/sh
set -e
sed -i 's,\, "b",,' Cargo.toml
