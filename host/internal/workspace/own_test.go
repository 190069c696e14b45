package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A group that holds nobody else is no other person: whose umask is 002 has made every
// file of his own so.
func TestOnlyMember(t *testing.T) {
	const users = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nann2:x:1000:1000::/home/ann:/bin/sh\n" +
		"bob:x:1001:100::/home/bob:/bin/sh\ncid:x:1002:100::/home/cid:/bin/sh\nbroken\n"
	const groups = "root:x:0:\nann:x:1000:\nusers:x:100:\nteam:x:200:ann,bob\nsolo:x:201:ann\nnobody:x:202:\nsame:x:201:ann2\n" +
		"twice:x:203:ann\ntwo:x:203:bob\nshort:x\n"
	for _, c := range []struct {
		name     string
		uid, gid int
		want     bool
	}{
		{"the user's private group", 1000, 1000, true},
		{"root's", 0, 0, true},
		{"a group that he is added to, alone", 1000, 201, true},
		{"one that others start with", 1001, 100, false},
		{"one with another member", 1000, 200, false},
		{"one without members", 1000, 202, false},
		{"one with two entries", 1000, 203, false},
		{"one that is not known", 1000, 300, false},
		{"another's private group", 1001, 1000, false},
		{"a user who is not known", 1003, 1000, false},
	} {
		if got := onlyMember(users, groups, c.uid, c.gid); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A list of others makes the group's bits theirs.
func TestOthersByAccessControlList(t *testing.T) {
	if !alone(os.Getegid()) {
		t.Skip("the group of who runs this holds others")
	}
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	if err := Own(path); err != nil {
		t.Errorf("refused for the user's own group: %v", err)
	}
	// Version 2; the user, user 12345, the group, the most of both, and all others, each with rights and a number.
	const list = "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\x39\x30\x00\x00" + "\x04\x00\x06\x00\xff\xff\xff\xff" +
		"\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	if err := unix.Setxattr(path, accessList, []byte(list), 0); err != nil {
		t.Skip(err)
	}
	if Own(path) == nil {
		t.Error("believed, though somebody else can write it")
	}
}
