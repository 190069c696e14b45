package Calc;
use strict;
use warnings;
sub name { 'x' }
1;
