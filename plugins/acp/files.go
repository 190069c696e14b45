package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	acp "github.com/coder/acp-go-sdk"
)

// maxFile bounds what is read for an agent in one request.
const maxFile = 8 << 20

// local is a path in the workspace, relative to its root. No link leads out of it:
// os.Root sees to that.
func (c *client) local(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("the path is not absolute")
	}
	rel, err := filepath.Rel(c.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", errors.New("the path is outside of the workspace")
	}
	return rel, nil
}

// ReadTextFile gives a file of the workspace, or some of its lines.
func (c *client) ReadTextFile(_ context.Context, r acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	rel, err := c.local(r.Path)
	if err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	info, err := c.root.Stat(rel)
	switch {
	case err != nil:
		return acp.ReadTextFileResponse{}, err
	case !info.Mode().IsRegular():
		return acp.ReadTextFileResponse{}, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return acp.ReadTextFileResponse{}, errors.New("the file is too large")
	}
	b, err := c.root.ReadFile(rel)
	if err != nil {
		return acp.ReadTextFileResponse{}, err
	}
	return acp.ReadTextFileResponse{Content: strings.ToValidUTF8(lines(string(b), r.Line, r.Limit), "\uFFFD")}, nil
}

// lines are those from the first on, at most limit of them; the first is 1.
func lines(text string, first, limit *int) string {
	if first == nil && limit == nil {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	if first != nil {
		all = all[min(max(*first-1, 0), len(all)):]
	}
	if limit != nil {
		all = all[:min(max(*limit, 0), len(all))]
	}
	return strings.Join(all, "")
}

// WriteTextFile writes a file of the workspace, and the folders above it.
func (c *client) WriteTextFile(_ context.Context, r acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	rel, err := c.local(r.Path)
	if err != nil {
		return acp.WriteTextFileResponse{}, err
	}
	c.act()
	if err := c.root.MkdirAll(filepath.Dir(rel), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return acp.WriteTextFileResponse{}, err
	}
	if err := c.root.WriteFile(rel, []byte(r.Content), 0o644); err != nil {
		return acp.WriteTextFileResponse{}, err
	}
	c.out.File(rel)
	return acp.WriteTextFileResponse{}, nil
}

func (c *client) act() { c.mu.Lock(); defer c.mu.Unlock(); c.acted = true }
