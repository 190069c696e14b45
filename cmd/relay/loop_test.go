package main

import (
	"testing"
	"time"
	_ "time/tzdata" // the test's zone
)

func TestParseUntil(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	evening := time.Date(2026, 10, 24, 22, 30, 0, 0, berlin) // summer time ends in this night
	for text, want := range map[string]time.Time{
		"":                          {},
		"07:00":                     time.Date(2026, 10, 25, 7, 0, 0, 0, berlin),
		"7:00":                      time.Date(2026, 10, 25, 7, 0, 0, 0, berlin),
		"22:31":                     time.Date(2026, 10, 24, 22, 31, 0, 0, berlin),
		"22:30":                     time.Date(2026, 10, 25, 22, 30, 0, 0, berlin),
		"8h":                        evening.Add(8 * time.Hour),
		"1h30m":                     evening.Add(90 * time.Minute),
		"2026-10-25T07:00:00+02:00": time.Date(2026, 10, 25, 6, 0, 0, 0, berlin),
		"2026-10-25 07:00":          time.Date(2026, 10, 25, 7, 0, 0, 0, berlin),
		"2026-10-25T07:00":          time.Date(2026, 10, 25, 7, 0, 0, 0, berlin),
		"2026-10-25 07:00:30":       time.Date(2026, 10, 25, 7, 0, 30, 0, berlin),
		"2020-01-01T00:00:00Z":      time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), // past: no tick begins
	} {
		if got, err := parseUntil(text, evening); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"yesterday", "7", "24:00", "-8h", "0s", "07:00:00", "8", "2026-10-25", "7am"} {
		if got, err := parseUntil(bad, evening); err == nil {
			t.Errorf("%q is taken for %v", bad, got)
		}
	}
}
