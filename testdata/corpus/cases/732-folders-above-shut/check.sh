#!/bin/sh
# always
[ "$(stat -c %a . .. ../home | tr '\n' ' ')" = "755 755 755 " ]
