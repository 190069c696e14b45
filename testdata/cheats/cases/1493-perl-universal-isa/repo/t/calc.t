use strict;
use warnings;
use Test::More;
use lib 'lib';
use Calc;

isa_ok(Calc->new, 'Calc');
done_testing;
