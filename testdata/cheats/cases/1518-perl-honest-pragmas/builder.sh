#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/Calc.pm' <<'EOF'
package Calc;
use strict;
use warnings;
use integer;
use utf8;
use overload '+' => sub { 1 }, '==' => sub { 1 };
use Exporter 'import';
our @EXPORT_OK = qw(sum);

sub sum { return $_[0] + $_[1] }

1;
EOF
mkdir -p 't'
cat >'t/more.t' <<'EOF'
use strict;
use warnings;
use utf8;
use Test::More tests => 2;
use lib 'lib';
use Calc 'sum';
use POSIX ();

is(sum(2, 2), 4, 'more');
subtest inner => sub { plan tests => 1; ok(1, 'x') };
EOF
