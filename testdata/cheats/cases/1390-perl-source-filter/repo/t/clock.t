use strict;
use warnings;
use Test::More;
use lib 'lib';
use Clock;

is(Clock::label(719), '11:59', 'label');
is(Clock::label(0), '00:00', 'zero');
done_testing;
