use strict;
use warnings;
use Test::More;
use lib 'lib';
use Calc;

is(Calc::sum(1, 2), 3, 'sum');
done_testing;
