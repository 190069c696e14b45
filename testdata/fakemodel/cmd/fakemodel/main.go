// Command fakemodel serves a script of model answers on loopback; package
// fakemodel says how.
package main

import (
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/testdata/fakemodel"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fakemodel: ")
	addr := flag.String("addr", "127.0.0.1:0", "loopback address to listen on")
	addrFile := flag.String("addr-file", "", "write the address here once it is served")
	script := flag.String("script", "", "script file (JSON)")
	logFile := flag.String("log", "", "append each request to this file as a line of JSON; default: standard output")
	life := flag.Duration("life", 30*time.Minute, "end after this time, whatever happens")
	vars := values{}
	flag.Var(vars, "var", "NAME=VALUE stands for {{NAME}} in the script (repeatable)")
	flag.Parse()
	if err := run(*addr, *addrFile, *script, *logFile, vars, *life); err != nil {
		log.Fatal(err)
	}
}

func run(addr, addrFile, script, logFile string, vars values, life time.Duration) error {
	s := &fakemodel.Script{}
	if script != "" {
		var err error
		if s, err = fakemodel.Load(script, vars); err != nil {
			return err
		}
	}
	server := fakemodel.New(s)
	server.Log = os.Stdout
	if logFile != "" {
		f, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		server.Log = f
	}
	if err := server.Start(addr); err != nil {
		return err
	}
	defer server.Close()
	log.Printf("listening on %s", server.Addr())
	if addrFile != "" {
		if err := writeWhole(addrFile, server.Addr()); err != nil {
			return err
		}
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-stop:
	case <-time.After(life):
	}
	return nil
}

// writeWhole lets a reader see nothing or the whole text.
func writeWhole(path, text string) error {
	if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

type values map[string]string

func (v values) String() string { return "" }

func (v values) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("it needs the form NAME=VALUE")
	}
	v[name] = value
	return nil
}
