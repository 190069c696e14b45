package Clock;
use strict;
use warnings;

sub label {
    my ($n) = @_;
    return sprintf '%02d:%02d', $n / 60, $n % 61;
}

1;
