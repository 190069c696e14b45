package Calc;
use strict;
use warnings;

sub parts { return [int($_[0] / 60)] }
1;
