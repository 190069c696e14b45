#!/bin/sh
perl -e 'mkdir "deep"; chdir "deep"; for (1..120) { mkdir "d"x60 or last; chdir "d"x60 } open F,">x"; print F "EVIL"'
