package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
)

// blastRadius is the size of a change in the words of the seeds.
func blastRadius(r *host.Report) string {
	b := r.BlastRadius
	return fmt.Sprintf("%s, +%d/-%d, %d new", plural(b.FilesTouched, "file", "files"), b.LinesAdded, b.LinesDeleted, b.NewFiles)
}

func verification(p *printer, v host.VerifyRun) string {
	state := p.green("passed")
	switch {
	case v.TimedOut:
		state = p.red("ran out of time")
	case v.ExitCode < 0:
		state = p.red("was ended by a signal or a limit")
	case v.ExitCode != 0:
		state = p.red("failed with exit status " + strconv.Itoa(v.ExitCode))
	}
	if beside := v.Beside(); beside != "" {
		state += " (" + beside + ")"
	}
	return fmt.Sprintf("%s (%s) %s in %s", host.Safe(v.TemplateID), host.Safe(v.Phase), state, duration(time.Duration(v.DurationMS)*time.Millisecond))
}

// duration is short: 12 ms, 3.4 s, 5 min 10 s.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// size is a number of bytes for people.
func size(n int64) string {
	const k = 1000
	switch {
	case n < k:
		return fmt.Sprintf("%d B", n)
	case n < k*k:
		return fmt.Sprintf("%.1f kB", float64(n)/k)
	case n < k*k*k:
		return fmt.Sprintf("%.1f MB", float64(n)/(k*k))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(k*k*k))
}

func plain(n int) string { return strconv.Itoa(n) }

func joined(items []string) string {
	safe := make([]string, len(items))
	for i, s := range items {
		safe[i] = host.Safe(s)
	}
	return strings.Join(safe, ", ")
}
