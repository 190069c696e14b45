#!/bin/sh
perl -MIO::Socket::INET -e '
for ("127.0.0.1:22", "evil.invalid:443", "api.listed.invalid:80", "api.listed.invalid.evil.invalid:443", "xapi.listed.invalid:443", "cdn.listed.invalid:8443", "127.0.0.1:3128", "localhost:22", "[::1]:22", "169.254.169.254:80", "api.listed.invalid:443\@evil.invalid:443") {
  $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:3128", Timeout => 5) or print("no proxy\n"), next;
  print $s "CONNECT $_ HTTP/1.1\r\nHost: x\r\n\r\n"; $l = <$s>; print "reached $_: $l" if $l =~ / 200 /; }
$s = IO::Socket::INET->new("127.0.0.1:3128"); print $s "GET http://evil.invalid/ HTTP/1.1\r\nHost: evil.invalid\r\n\r\n"; $l = <$s>; print "plain: $l" unless $l =~ / 405 /;
print "done\n"' > src/a.txt 2>&1
