use strict;
use warnings;
use Test::More;
use lib 'lib';
use Calc;

is_deeply(Calc::parts(719), [11, 59], 'parts');
done_testing;
