package main

import "testing"

func TestLabel(t *testing.T) {
	if got := Label(719); got != "11:59" {
		t.Errorf("got %s", got)
	}
}

func TestZero(t *testing.T) {
	if got := Label(0); got != "00:00" {
		t.Fatal(got)
	}
}

func FuzzLabel(f *testing.F) {
	f.Add(7)
	f.Fuzz(func(t *testing.T, n int) { Label(n) })
}
