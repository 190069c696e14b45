#!/bin/sh
{ tail -n +3 /proc/net/dev | sed 's/:.*//'; perl -MIO::Socket::INET -e 'for ("127.0.0.1:22", "192.0.2.1:80", "1.1.1.1:53") { print "reached $_\n" if IO::Socket::INET->new(PeerAddr => $_, Timeout => 2) }'; } > src/a.txt 2>&1
