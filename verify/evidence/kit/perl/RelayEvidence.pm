package RelayEvidence;

# Has Perl's tests report to relay, by the names of their assertions, however they are started:
# PERL5OPT names this module, so it is there before any line of the program. It waits for
# Test2, on which Test::More and all newer libraries rest, and reads its events.
use strict;
use warnings;

my $pipe = $ENV{RELAY_EVIDENCE};
my $root = ($ENV{RELAY_EVIDENCE_ROOT} || '') . '/';
my ($to, $file, %was, %told, %filters);
my $me = 0;

# What decides what an assertion says, by the module that brings it.
my %watched = map { (my $f = $_) =~ s{::}{/}g; ("$f.pm" => $_) }
    qw(Test::Builder Test::More Test2::Hub Test2::Event::Ok Test2::Event::Pass Test2::Event::Fail Test2::API::Context Filter::Util::Call);

sub tell_relay {
    my @f = @_;
    for (@f) {
        $_ = substr $_, 0, 900;
        s/([\\\t\n\r])/'\\' . {"\\" => "\\", "\t" => 't', "\n" => 'n', "\r" => 'r'}->{$1}/ge;
        utf8::encode($_) if utf8::is_utf8($_);
    }
    syswrite $to, join("\t", @f) . "\n";
}

sub look {
    no strict 'refs';
    for my $name (grep { /::/ } keys %was) {
        next if $told{$name} || \&$name == $was{$name};
        $told{$name} = 1;
        tell_relay('probe', "perl-$me", "$name was replaced", 'bad', '');
    }
    for my $from (grep { !$told{$_} && of_code($_) } keys %filters) {
        $told{$from} = 1;
        tell_relay('probe', "perl-$me", "a filter of the test's text in $from", 'bad', '');
    }
    for my $name (grep { s/^Test::More::(?!_)// } my @all = keys %was) { # a glob of main's has it by import
        next if $told{"main::$name"} || !defined &{"main::$name"} || \&{"main::$name"} == ($was{"Test::More::$name"} || 0) || !foreign(\&{"main::$name"});
        $told{"main::$name"} = 1;
        tell_relay('probe', "perl-$me", "the $name of the tests was replaced", 'bad', '');
    }
}

# Whether code is the repository's, and from no file of tests.
sub foreign {
    require B;
    return of_code(B::svref_2object($_[0])->FILE);
}

sub of_code {
    my ($from) = @_;
    $from =~ s/^\Q$root\E//;
    return $from !~ m{^/|test|^t/}i && $from ne $file;
}

# An object that is equal to what its text is not: by an eq of the code under test's own.
sub is_eq {
    my (undef, $got, $want) = @_;
    my $eq = ref $got && defined $want && overload::Method($got, 'eq');
    if ($eq && !$told{"$eq"} && foreign($eq) && $got eq $want && "$got" ne "$want") {
        $told{"$eq"} = 1;
        tell_relay('probe', "perl-$me", 'the eq of ' . ref($got) . ' is not that of its text', 'bad', '');
    }
    goto &{$was{is_eq}};
}

sub event {
    my (undef, $e) = @_;
    my $f = $e->facet_data;
    return if $me != $$ || !$f->{assert} || $f->{trace}{nested};
    look();
    my $name = $f->{assert}{details};
    $name = 'without a name' if !defined $name || $name eq '';
    my %tags = map { uc($_->{tag} || '') => 1 } @{$f->{amnesty} || []};
    my $state = $tags{SKIP} ? 'skip' : $tags{TODO} ? 'todo' : $f->{assert}{pass} ? 'pass' : 'fail';
    pragmas();
    tell_relay('test', "perl-$me", $state, "$file: $name", $file);
}

# Whether a module that a test uses has set how that test's own text is read: its numbers, or what its operators do.
sub pragmas {
    return if $told{pragmas};
    for (my $i = 0; my @frame = caller $i; $i++) {
        next if $frame[1] ne $0 || !(($frame[8] || 0) & 0x1f009); # integer, bytes, overloaded constants
        $told{pragmas} = 1;
        open my $in, '<', $0 or return;
        my $text = do { local $/; <$in> };
        tell_relay('probe', "perl-$me", "how the text of $file is read", 'bad', '') if $text !~ /\b(integer|bytes|overload|big\w+)\b/;
    }
}

sub loaded {
    my ($module) = @_;
    if ($module eq 'Test2/API.pm') {
        open $to, '>>', $pipe or return;
        $me = $$;
        $was{"UNIVERSAL::$_"} = \&{"UNIVERSAL::$_"} for qw(isa can DOES);
        $file = $0;
        require Cwd;
        $file = Cwd::abs_path($0) || $0;
        $file =~ s/^\Q$root\E//;
        tell_relay('begin', "perl-$me", 'perl');
        Test2::API::test2_add_callback_post_load(sub { Test2::API::test2_stack()->top->listen(\&event, inherit => 0) });
        Test2::API::test2_add_callback_exit(sub {
            return if $me != $$;
            look();
            my $hub = Test2::API::test2_stack()->top;
            tell_relay('end', "perl-$me", '') if $hub->ended || defined $hub->plan && ($hub->plan eq 'SKIP' || $hub->plan eq $hub->count);
        });
    } else {
        my $package = $watched{$module};
        no strict 'refs';
        no warnings 'redefine';
        if ($package eq 'Filter::Util::Call') {
            my $add = \&Filter::Util::Call::filter_add;
            *Filter::Util::Call::filter_add = sub { # what follows is read through it: the text of a test
                $filters{(caller)[1]} = 1;
                goto &$add;
            };
        }
        if ($package eq 'Test::Builder') { # which is watched as it is from here on
            require overload;
            $was{is_eq} = \&Test::Builder::is_eq;
            *Test::Builder::is_eq = \&is_eq;
        }
        $was{"${package}::$_"} = \&{"${package}::$_"} for grep { !/::$/ && defined &{"${package}::$_"} } keys %{"${package}::"};
    }
}

if ($pipe) {
    my $hook;
    $hook = sub {
        my (undef, $module) = @_;
        return if $module ne 'Test2/API.pm' && !$watched{$module};
        my ($path) = grep { -f } map { "$_/$module" } grep { !ref } @INC;
        return if !defined $path;
        open my $source, '<', $path or return;
        $INC{$module} = $path;
        my $text = do { local $/; <$source> };
        # The last statement of a module is its value; what comes after __END__ is no code.
        my ($code, $rest) = $text =~ /\A(.*?)(^__(?:END|DATA)__\b.*)?\z/ms;
        $code = "#line 1 \"$path\"\n$code\n;RelayEvidence::loaded('$module');\n1;\n" . ($rest // '');
        open my $in, '<', \$code or return;
        return $in;
    };
    unshift @INC, $hook;
}

1;
