package release

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/paxiom/relay/host/internal/catalog"
)

// Known asks a source for the newest version of a plugin, and for what is said against others; of
// a source that has no versions the newest is the source. One that has no list of them, such as an archive, is
// fs.ErrNotExist.
func Known(ctx context.Context, from, scratch, cache string) (v catalog.Notices, err error) {
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
		return catalog.Notices{Newest: m.version}, err
	case strings.HasPrefix(from, schemeGitHub):
		v.Newest, err = newestTag(ctx, from)
		return v, err
	case strings.HasPrefix(from, schemeOCI):
		repo, tag, _ := splitTag(from)
		reg, err := openRegistry(repo)
		if err == nil {
			tag, err = reg.newest(ctx)
		}
		return catalog.Notices{Newest: strings.TrimPrefix(tag, "v")}, err
	case IsRemote(from) && !isArchive(from):
		from = strings.TrimSuffix(from, "/")
		index, err := ReadIndex(ctx, from[:strings.LastIndexByte(from, '/')], scratch)
		if err != nil {
			return catalog.Notices{Newest: from}, err
		}
		listed := index.Plugins[path.Base(from)]
		return listed.notices(), nil
	}
	return catalog.Notices{Newest: from}, fs.ErrNotExist
}
