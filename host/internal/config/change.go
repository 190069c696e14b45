package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/sjson"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

const listKeys = "`relay config show --origin` lists the keys"

// Change writes key=value, as --set takes it, into the repository's configuration file, or
// with user into the user's own, and returns the file. What else the file holds keeps its
// order. The file stays as it was when the whole would be refused afterwards.
func Change(o Options, assignment string, user bool) (file string, err error) {
	layer, err := setLayerOf("relay config set", assignment, table, specs, listKeys)
	if err != nil {
		return "", err
	}
	key, _, _ := strings.Cut(assignment, "=")
	parts := strings.Split(strings.TrimSpace(key), ".")
	value, err := json.Marshal(layer.lookup(parts...).plain())
	if err != nil {
		return "", err
	}
	l := &Loaded{Root: o.Root}
	was, err := l.editable(o, user)
	if err != nil {
		return "", err
	}
	for i := range parts {
		parts[i] = escapeKey.Replace(parts[i])
	}
	now, err := sjson.SetRawBytes(was, strings.Join(parts, "."), value)
	if err == nil && (was == nil || bytes.Equal(laidOut(was), was)) {
		now = laidOut(now)
	}
	if err == nil {
		err = l.rewrite(now)
	}
	if err != nil {
		return "", unwritable(l.File, err)
	}
	if _, err := Load(o); err != nil {
		if was == nil {
			return "", errors.Join(err, os.Remove(l.File))
		}
		return "", errors.Join(err, l.rewrite(was))
	}
	return l.File, nil
}

// laidOut is JSON as relay init writes it.
func laidOut(b []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, bytes.TrimSpace(b), "", "  ") != nil {
		return nil
	}
	return append(out.Bytes(), '\n')
}

// rewrite gives the file another content and leaves who may read it.
func (l *Loaded) rewrite(b []byte) error {
	was, err := os.Stat(l.File)
	if werr := workspace.WriteFile(l.File, b); werr != nil || err != nil {
		return werr
	}
	return os.Chmod(l.File, was.Mode().Perm())
}

// escapeKey has a name of the configuration stand for itself in a path of sjson's.
var escapeKey = strings.NewReplacer("\\", "\\\\", ".", "\\.", "*", "\\*", "?", "\\?", "|", "\\|", "#", "\\#", "@", "\\@", ":", "\\:")

// editable reads the file that a change goes into, and leaves its path in File; nil stands
// for a file of the user's that is not there yet.
func (l *Loaded) editable(o Options, user bool) (was []byte, err error) {
	dir, names := o.Root, FileNames()
	if user {
		if dir = o.UserDir; dir == "" {
			dir = UserDir(o.Env)
		}
		if dir == "" {
			return nil, diag.New(judge.BlockedMissingConfig, "relay has no folder for your configuration", "neither XDG_CONFIG_HOME nor HOME names a folder", "`export HOME=~`")
		}
		names = userNames
	}
	l.File, was, err = l.first(dir, names)
	switch {
	case err != nil:
		return nil, err
	case l.File == "" && user:
		l.File = filepath.Join(dir, names[0])
		return nil, os.MkdirAll(dir, 0o700)
	case l.File == "":
		return nil, missing(dir, names)
	case filepath.Ext(l.File) != ".json":
		return nil, diag.New(judge.BlockedMissingConfig, "relay changes only JSON files", filepath.Base(l.File)+" may hold comments, which would be lost", edit(l.File, 0))
	}
	l.File, err = filepath.EvalSymlinks(l.File) // the user's own may be a link
	return was, err
}

func unwritable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return diag.Wrap(err, judge.BlockedMissingConfig, path+" can't be written", "`ls -l "+diag.Word(path)+"`")
	}
	return diag.Wrap(err, judge.BlockedMissingConfig, path+" can't be changed", edit(path, 0))
}
