use strict;
use warnings;
use Test::More;
use lib 'lib';
use Calc;

like(Calc::name(), qr/^clock/, 'name');
done_testing;
