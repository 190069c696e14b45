package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
)

const (
	maxDoing = 3   // rows of what is under way side by side
	widest   = 110 // a line that is no longer than this survives most changes of a window's size
	barWidth = 10
)

// frame is the live region: what is under way, what it used and how long it may continue, and the
// budgets. No line is wider than the terminal, and a low one has the first of them.
func frame(n *host.Now, budgets []host.BudgetLine, now time.Time, width, height int) []string {
	if len(n.Doing) == 0 {
		return nil
	}
	width = min(width-1, widest)
	side := max(1, min(maxDoing, tallest(height)-3)) // side by side, before what they used
	var lines []string
	for i, d := range n.Doing {
		if i == side && len(n.Doing) > side+1 {
			lines = append(lines, fmt.Sprintf("  and %d more", len(n.Doing)-side))
			break
		}
		lines = append(lines, "  "+doing(d, now))
	}
	if s := standing(n, now, width-2); s != "" {
		lines = append(lines, "  "+s)
	}
	if s := bars(budgets, width-2); s != "" {
		lines = append(lines, "  "+s)
	}
	lines = lines[:min(len(lines), tallest(height))]
	for i := range lines {
		lines[i] = Cut(lines[i], width)
	}
	return lines
}

// tallest is how many rows the region has at most: a line above it is seen, and the cursor
// below it.
func tallest(height int) int { return max(0, min(maxDoing+3, height-2)) }

// doing is one row: the state, for how long, and what its plugins do.
func doing(d host.Doing, now time.Time) string {
	parts := []string{strings.ToLower(Text(d.State))}
	if d.Until.IsZero() {
		parts = append(parts, elapsed(now.Sub(d.Since)))
	} else {
		parts = append(parts, Countdown(d.Until.Sub(now))+" left")
	}
	for _, a := range d.Acts {
		parts = append(parts, act(a))
	}
	return strings.Join(parts, "  ")
}

func act(a host.Act) string {
	switch {
	case a.Plugin == "":
		return Text(a.Text)
	case a.Text == "":
		return Text(a.Plugin)
	}
	return Text(a.Plugin) + ": " + Text(a.Text)
}

// elapsed ticks visibly.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", max(d, 0).Seconds())
	}
	return Countdown(d)
}

// standing is what was used, and what is left of each limit of time.
func standing(n *host.Now, now time.Time, width int) string {
	var parts []string
	if s := Used(n.Usage); s != "" {
		parts = append(parts, s)
	}
	bounds := slices.Clone(n.Limits)
	for _, d := range n.Doing {
		bounds = append(bounds, d.Limits...)
	}
	slices.SortFunc(bounds, func(a, b host.Bound) int { return a.Until.Compare(b.Until) })
	for _, b := range bounds {
		if left := b.Until.Sub(now); left > -time.Minute {
			parts = append(parts, Text(b.Name)+" "+Countdown(left)+" left")
		}
	}
	return fitting(parts, width)
}

// fitting joins as many parts as a line holds, the first ones first.
func fitting(parts []string, width int) string {
	line := ""
	for _, s := range parts {
		if line != "" {
			s = line + "  " + s
		}
		if Columns(s) > width {
			break
		}
		line = s
	}
	return line
}

// bars are the budgets that are nearest to their caps, as many as a line holds.
func bars(budgets []host.BudgetLine, width int) string {
	capped := slices.DeleteFunc(slices.Clone(budgets), func(b host.BudgetLine) bool { return b.Max <= 0 })
	slices.SortStableFunc(capped, func(a, b host.BudgetLine) int { return cmp.Compare(b.Used/b.Max, a.Used/a.Max) })
	var parts []string
	for _, b := range capped {
		parts = append(parts, Text(b.Name)+" "+Bar(b.Used, b.Max, barWidth)+" "+Amount(b.Used)+" of "+Amount(b.Max))
	}
	return fitting(parts, width)
}
