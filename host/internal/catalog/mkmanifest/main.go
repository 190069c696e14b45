package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
)

func main() {
	text, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mkmanifest:", err)
		os.Exit(1)
	}
	fmt.Println(text)
}

// run takes folders and single files.
func run(paths []string) (string, error) {
	var entries []catalog.Entry
	for _, path := range paths {
		files := []string{path}
		if st, err := os.Stat(path); err != nil {
			return "", err
		} else if st.IsDir() {
			files, _ = filepath.Glob(filepath.Join(path, "relay-plugin-*"))
		}
		for _, f := range files {
			e, err := describe(f)
			if err != nil {
				return "", fmt.Errorf("%s: %w", f, err)
			}
			entries = append(entries, e)
		}
	}
	return catalog.EncodeManifest(entries)
}

// describe asks the plugin and hashes its file. Its environment is empty, since what
// a plugin says about itself may not depend on it.
func describe(path string) (catalog.Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	abs, err := filepath.Abs(path)
	if err != nil {
		return catalog.Entry{}, err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, abs, "--info")
	cmd.Env, cmd.Stderr = []string{"PATH=/usr/bin:/bin"}, &stderr
	out, err := cmd.Output()
	if err != nil {
		return catalog.Entry{}, fmt.Errorf("--info: %w: %s", err, stderr.Bytes())
	}
	e, err := catalog.FromInfo(out)
	if err != nil {
		return catalog.Entry{}, fmt.Errorf("--info: %w", err)
	}
	if name := strings.TrimPrefix(filepath.Base(path), "relay-plugin-"); e.Name != name || !catalog.ValidName(name) {
		return catalog.Entry{}, fmt.Errorf("it calls itself %q", e.Name)
	}
	f, err := os.Open(abs)
	if err != nil {
		return catalog.Entry{}, err
	}
	defer f.Close()
	e.SHA256, err = launch.HashFile(f)
	return e, err
}
