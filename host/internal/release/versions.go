package release

import (
	"context"
	"io/fs"
	"path"
	"strings"
)

// Versions are those of a plugin that can be had.
type Versions struct {
	// Newest is the highest that nothing is said against; of a source that has no versions it
	// is the source.
	Newest string
	// Withdrawn are the versions that their publisher has withdrawn, and Advisories those that
	// it warns of, with the reasons.
	Withdrawn, Advisories map[string]string
}

// Known asks a source for its versions. One that has no list of them, such as an archive, is
// fs.ErrNotExist.
func Known(ctx context.Context, from, scratch, cache string) (v Versions, err error) {
	switch {
	case IsModule(from):
		m, err := parseModule(Newest(from))
		if err == nil {
			err = m.findGo()
		}
		if err != nil {
			return v, err
		}
		r, err := newRelease(scratch)
		if err != nil {
			return v, err
		}
		defer r.Close()
		m.dir, m.cache = r.dir, cache
		ctx, cancel := context.WithTimeout(ctx, fetchTime)
		defer cancel()
		err = m.download(ctx)
		return Versions{Newest: m.version}, err
	case strings.HasPrefix(from, schemeGitHub):
		v.Newest, err = newestTag(ctx, from)
		return v, err
	case IsRemote(from) && !isArchive(from):
		from = strings.TrimSuffix(from, "/")
		index, err := ReadIndex(ctx, from[:strings.LastIndexByte(from, '/')], scratch)
		if err != nil {
			return Versions{Newest: from}, err
		}
		listed := index.Plugins[path.Base(from)]
		return Versions{Newest: listed.Newest(), Withdrawn: listed.Withdrawn, Advisories: listed.Advisories}, nil
	}
	return Versions{Newest: from}, fs.ErrNotExist
}
