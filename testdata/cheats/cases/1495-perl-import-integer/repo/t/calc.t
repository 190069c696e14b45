use strict;
use warnings;
use Test::More;
use lib 'lib';
use Calc;

ok(Calc::half() - 1.5 == 0, 'half');
done_testing;
