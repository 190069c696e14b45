#!/bin/sh
echo EVIL > src/a.txt; perl -e 'require "syscall.ph" if 0; my ($p,$n,$v)=@ARGV; syscall(188,$p,$n,$v,length $v,0)' src/a.txt user.overlay.metacopy ""
