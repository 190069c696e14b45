package main

import (
	"bytes"
	"context"
	"flag"
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
	ask := flag.String("ask", "", "with commas, for each FILE the same plugin for this platform, which is asked instead")
	flag.Parse()
	text, err := run(flag.Args(), *ask)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mkmanifest:", err)
		os.Exit(1)
	}
	fmt.Println(text)
}

// run takes folders and single files. ask are those that are asked for the files, with
// commas; "" when they can be themselves.
func run(paths []string, ask string) (string, error) {
	var entries []catalog.Entry
	if ask != "" {
		return foreign(paths, strings.Split(ask, ","))
	}
	for _, path := range paths {
		files := []string{path}
		if st, err := os.Stat(path); err != nil {
			return "", err
		} else if st.IsDir() {
			files, _ = filepath.Glob(filepath.Join(path, "relay-plugin-*"))
		}
		for _, f := range files {
			e, err := describe(f, f)
			if err != nil {
				return "", fmt.Errorf("%s: %w", f, err)
			}
			entries = append(entries, e)
		}
	}
	return catalog.EncodeManifest(entries)
}

// foreign takes files of another platform.
func foreign(files, ask []string) (string, error) {
	if len(files) != len(ask) {
		return "", fmt.Errorf("%d files, and %d to ask", len(files), len(ask))
	}
	var entries []catalog.Entry
	for i, f := range files {
		e, err := describe(f, ask[i])
		if err != nil {
			return "", fmt.Errorf("%s: %w", f, err)
		}
		entries = append(entries, e)
	}
	return catalog.EncodeManifest(entries)
}

// describe hashes a plugin's file, and asks it, or the same one for this platform. The
// environment is empty, since what a plugin says about itself may not depend on it.
func describe(path, ask string) (catalog.Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	abs, err := filepath.Abs(ask)
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
	f, err := os.Open(path)
	if err != nil {
		return catalog.Entry{}, err
	}
	defer f.Close()
	e.SHA256, err = launch.HashFile(f)
	return e, err
}
