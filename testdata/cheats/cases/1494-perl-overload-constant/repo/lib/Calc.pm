package Calc;
use strict;
use warnings;

sub sum { return $_[0] - $_[1] }

1;
