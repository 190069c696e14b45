package in

import "testing"

func TestBad(t *testing.T) { t.Fatal("bad") }
