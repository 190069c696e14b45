package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A process without a home gets its user's, never a relative one.
func TestSettleHome(t *testing.T) {
	for _, home := range []string{"", "."} {
		t.Setenv("HOME", home)
		settleHome()
		if got, given := os.LookupEnv("HOME"); given && !filepath.IsAbs(got) {
			t.Errorf("HOME=%q became %q", home, got)
		}
	}
	t.Setenv("HOME", "/a/home")
	if settleHome(); os.Getenv("HOME") != "/a/home" {
		t.Error("a home was replaced")
	}
}
