package docpages

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Page is one Markdown file.
type Page struct {
	Path   string // relative to the root, with slashes
	Text   string
	Blocks []Block
}

// Block is a fenced block of a page, or lines of a test script that a comment of the page
// holds.
type Block struct {
	Line   int    // of the fence or the comment, from 1
	Lang   string // of a fence
	Text   string
	Script bool   // lines of a test script, which readers don't see
	Skip   string // why its commands are not run
	Exit   []int  // what it ends with is the last; its other commands may end with any of them, or 0
	With   []Word // words that stand for something
	File   string // that the reader makes of the text
}

// Word is a placeholder in a block, and what a shell makes of it.
type Word struct{ Name, Value string }

// Commands reports whether a block is made of commands that a reader types. A program that is
// shown as a file, with its first line, is none.
func (b Block) Commands() bool {
	return !b.Script && b.File == "" && (b.Lang == "console" || b.Lang == "sh" && !strings.HasPrefix(b.Text, "#!"))
}

// Find reads README.md and all pages below docs.
func Find(root string) ([]*Page, error) {
	paths := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var pages []*Page
	for _, path := range paths {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		p, err := Parse(path, string(b))
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

var (
	fence     = regexp.MustCompile("^(```+|~~~+)\\s*([a-zA-Z0-9_-]*)")
	directive = regexp.MustCompile(`^<!-- test: (skip|exit|with|file) (.*) -->$`)
)

// Parse finds the blocks of a page. In comments it says how they are tried:
//
//	<!-- test: skip REASON -->     the next block's commands are not run
//	<!-- test: exit N... -->       it ends with the last of these exit codes; those before the
//	                               last may be of its other commands, beside 0
//	<!-- test: with WORD=TEXT -->  WORD stands for TEXT in it
//	<!-- test: file NAME -->       the next block is written to that file
//	<!-- test                      the lines up to --> are of a test script
func Parse(path, text string) (*Page, error) {
	p := &Page{Path: path, Text: text}
	next := Block{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		bad := func(what string) error { return fmt.Errorf("%s:%d: %s", path, i+1, what) }
		line := strings.TrimSpace(lines[i])
		switch m := fence.FindStringSubmatch(line); {
		case m != nil:
			b := next
			next = Block{}
			b.Line, b.Lang = i+1, m[2]
			body, end := until(lines, i+1, func(l string) bool { return strings.TrimSpace(l) == m[1] })
			if end < 0 {
				return nil, bad("a block without an end")
			}
			indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
			for _, l := range body {
				b.Text += strings.TrimPrefix(l, strings.Repeat(" ", indent)) + "\n"
			}
			if !b.Commands() && (b.Skip != "" || b.Exit != nil || b.With != nil) {
				return nil, bad("a comment says how to try a block that has no commands")
			}
			p.Blocks = append(p.Blocks, b)
			i = end
		case line == "<!-- test":
			body, end := until(lines, i+1, func(l string) bool { return strings.TrimSpace(l) == "-->" })
			if end < 0 {
				return nil, bad("a comment without an end")
			}
			p.Blocks = append(p.Blocks, Block{Line: i + 1, Script: true, Text: strings.Join(body, "\n") + "\n"})
			i = end
		case strings.HasPrefix(line, "<!-- test:"):
			if err := direct(&next, line); err != nil {
				return nil, bad(err.Error())
			}
		}
	}
	if next.Skip != "" || next.Exit != nil || next.With != nil || next.File != "" {
		return nil, fmt.Errorf("%s: the last comment about a test is for no block", path)
	}
	return p, nil
}

// until gives the lines before the first that ends them, and where that is; -1 is nowhere.
func until(lines []string, from int, ends func(string) bool) ([]string, int) {
	for i := from; i < len(lines); i++ {
		if ends(lines[i]) {
			return lines[from:i], i
		}
	}
	return nil, -1
}

func direct(b *Block, line string) error {
	m := directive.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("unknown comment about a test: %s", line)
	}
	switch m[1] {
	case "skip":
		b.Skip = strings.TrimSpace(m[2])
	case "file":
		b.File = strings.TrimSpace(m[2])
	case "exit":
		for _, word := range strings.Fields(m[2]) {
			n, err := strconv.Atoi(word)
			if err != nil {
				return fmt.Errorf("exit needs numbers: %s", line)
			}
			b.Exit = append(b.Exit, n)
		}
	case "with":
		name, value, ok := strings.Cut(m[2], "=")
		if !ok {
			return fmt.Errorf("with needs WORD=TEXT: %s", line)
		}
		b.With = append(b.With, Word{name, value})
	}
	return nil
}
