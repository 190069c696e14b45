package main

import (
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// The definitions that are made of a release's archives, and the scripts of its packages.
//
//go:embed recipes
var recipes embed.FS

const site = "https://github.com/paxiom/relay"

// content is one file of a package, as nfpm's configuration has it.
type content struct {
	Src      string `json:"src"`
	Dst      string `json:"dst"`
	Packager string `json:"packager,omitempty"`
	FileInfo struct {
		Mode  int64     `json:"mode"`
		MTime time.Time `json:"mtime"`
	} `json:"file_info"`
}

// packages makes the deb and the rpm of a Linux platform, with nfpm, of the archive's files.
func (r release) packages(name, version, platform string, members []member) error {
	system, arch, _ := strings.Cut(platform, "/")
	if system != "linux" {
		return nil
	}
	scripts := filepath.Join(filepath.Dir(r.files), "recipes")
	if err := os.CopyFS(scripts, recipes); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	var files []content
	add := func(m member, dst, packager string) {
		c := content{Src: m.path, Dst: dst, Packager: packager}
		c.FileInfo.Mode, c.FileInfo.MTime = m.mode, r.at
		files = append(files, c)
	}
	for _, m := range members {
		switch m.name {
		case "LICENSE":
			add(m, "/usr/share/doc/relay/copyright", "")
		case "README.md":
			add(m, "/usr/share/doc/relay/README.md", "")
		default:
			add(m, "/usr/"+m.name, "")
		}
	}
	at := func(name string) string { return filepath.Join(scripts, "recipes", name) }
	add(member{path: at("apparmor"), mode: 0o644}, "/usr/share/relay/apparmor", "deb")
	config, err := json.Marshal(map[string]any{
		"name": "relay", "arch": arch, "platform": system, "version": version, "mtime": r.at, "section": "devel", "homepage": site, "license": "MIT",
		"maintainer":  "The relay authors <noreply@users.noreply.github.com>",
		"description": "Judged work of language models on git repositories\nrelay lets models change a repository one small step at a time, in a box,\nand judges what they did by looking at the files.",
		"contents":    files,
		"rpm":         map[string]string{"buildhost": "localhost", "group": "Development/Tools", "summary": "Judged work of language models on git repositories"},
		"overrides": map[string]any{
			"deb": map[string]any{"depends": []string{"git (>= 1:2.39)"}, "scripts": map[string]string{"postinstall": at("postinst"), "postremove": at("postrm")}},
			"rpm": map[string]any{"depends": []string{"git >= 2.39"}},
		},
	})
	if err != nil {
		return err
	}
	file := filepath.Join(scripts, strings.ReplaceAll(platform, "/", "-")+".yaml") // JSON is YAML
	if err := os.WriteFile(file, config, 0o644); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		cmd := exec.Command("go", "-C", filepath.Join(r.src, ".ci", "tools"), "tool", "nfpm", "package", "--config", file, "--packager", kind, "--target", filepath.Join(r.files, name+"."+kind))
		cmd.Env, cmd.Stderr = append(os.Environ(), "GOWORK=off"), os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}

// definitions writes a container's definition, a Homebrew formula and a Nix flake, which name
// the archives of a release by their hashes: once all of them are there.
func (r release) definitions(version string) error {
	all, err := hashes(r.files)
	if err != nil {
		return err
	}
	of := func(platform string) string {
		return all["relay_"+version+"_"+strings.ReplaceAll(platform, "/", "_")+".tar.gz"]
	}
	for platform := range strings.SplitSeq(allPlatforms, ",") {
		if of(platform) == "" {
			return nil
		}
	}
	data := struct {
		Version, Site string
		SHA256        func(platform string) string
	}{version, site, of}
	for _, name := range []string{"Containerfile", "relay.rb", "flake.nix"} {
		t, err := template.New(name+".tmpl").Delims("[[", "]]").ParseFS(recipes, "recipes/"+name+".tmpl")
		if err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(r.files, name))
		if err == nil {
			err = t.Execute(f, data)
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
