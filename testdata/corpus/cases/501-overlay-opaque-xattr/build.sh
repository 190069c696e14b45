#!/bin/sh
echo x >> src/lib/c.txt
perl -e 'require "syscall.ph" if 0; my ($p,$n,$v)=@ARGV; syscall(188,$p,$n,$v,length $v,0)' docs user.overlay.opaque y
perl -e 'require "syscall.ph" if 0; my ($p,$n,$v)=@ARGV; syscall(188,$p,$n,$v,length $v,0)' src/lib user.overlay.opaque y
