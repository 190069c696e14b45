package box

import (
	"fmt"
	"time"
)

// Confine says what of the machine, besides its files, the processes of a box may
// use. The zero value takes nothing away.
type Confine struct {
	// OwnNetwork gives the box a network of its own, in which there is nothing but a
	// loopback interface. Abstract unix sockets are out of reach with it, too.
	OwnNetwork bool
	// Listen are addresses of that loopback interface, such as "127.0.0.1:3128", at
	// which the box listens on behalf of the host: see Process.Listeners.
	Listen []string
	Limits Limits
	Grants Grants
}

// Limits bound what the processes of a box may take together; 0 is no limit. A box
// that takes more is ended, and [ExitState].Exceeded says what it was.
type Limits struct {
	Processes int   // processes and threads at a time
	Memory    int64 // bytes, with the folders whose writes are thrown away
	// FreeMemory is what is left to others, in bytes: much that the kernel keeps for a process,
	// such as files under way in a socket, is counted by nothing but what the machine has left.
	FreeMemory int64
	CPUs       int           // processors; a program that fights it can have more
	CPUTime    time.Duration // of all processes that are waited for
	OpenFiles  int           // of one process; more is an error for it, not the end
	File       int64         // bytes of one file in the layer
	Disk       int64         // bytes on disk that the layer takes
}

// Exceeded is the limit that ended a box.
type Exceeded struct {
	// Limit is the limit's name. LimitFreeMemory, LimitFreeDisk and LimitFreeFiles are none
	// of the box's: they are what must be left for others. LimitOutput is watched by the reader of the output.
	Limit string
	// Got is what was found, Max what is allowed: in bytes, or in whole seconds for
	// cpu_time.
	Got, Max int64
	// Path is the file, relative to the layer's folder, when the limit is about one.
	Path string
}

// The names of limits.
const (
	LimitProcesses  = "processes"
	LimitMemory     = "memory"
	LimitCPUTime    = "cpu_time"
	LimitFile       = "file"
	LimitDisk       = "disk"
	LimitFreeMemory = "free_memory"
	LimitFreeDisk   = "free_disk"
	LimitFreeFiles  = "free_files"
	LimitOutput     = "output"
)

// Error says it on one line.
func (e *Exceeded) Error() string {
	switch e.Limit {
	case LimitGrant:
		return e.grant()
	case LimitProcesses:
		return fmt.Sprintf("%d processes and threads at a time; %d are allowed", e.Got, e.Max)
	case LimitMemory:
		return fmt.Sprintf("%s of memory; %s are allowed", size(e.Got), size(e.Max))
	case LimitCPUTime:
		return fmt.Sprintf("%d seconds of processor time; %d are allowed", e.Got, e.Max)
	case LimitFile:
		return fmt.Sprintf("a file of %s, %q; %s are allowed", size(e.Got), e.Path, size(e.Max))
	case LimitDisk:
		return fmt.Sprintf("%s written to disk; %s are allowed", size(e.Got), size(e.Max))
	case LimitFreeMemory:
		return fmt.Sprintf("only %s of the machine's memory were left free; %s are kept for others", size(e.Got), size(e.Max))
	case LimitFreeFiles:
		return fmt.Sprintf("only %d more files were left free to be made on the disk; %d are kept for others", e.Got, e.Max)
	case LimitOutput:
		return fmt.Sprintf("more than %s of output", size(e.Max))
	}
	return fmt.Sprintf("only %s were left free on the disk; %s are kept for others", size(e.Got), size(e.Max))
}

// size writes a number of bytes for people.
func size(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n >= unit.size {
			return fmt.Sprintf("%.3g %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Gaps says, in one sentence each, what is not confined.
func (c Confine) Gaps() []string {
	var gaps []string
	add := func(open bool, gap string) {
		if open {
			gaps = append(gaps, gap)
		}
	}
	add(!c.OwnNetwork, "The network is open: what the builder can read, it can send.")
	add(c.OwnNetwork && len(c.Listen) > 0, "What can be read can be sent to the hosts that are listed.")
	add(!c.OwnNetwork && !canScope(), "Abstract unix sockets (X11, some D-Bus) can be reached; Linux 6.12 or newer with Landlock, or a network of its own, closes them.")
	l := c.Limits
	add(l.Processes == 0, "The number of processes is not limited.")
	add(l.Memory == 0, "Memory is not limited.")
	add(l.File == 0 || l.Disk == 0, "Disk space is not limited.")
	return gaps
}
