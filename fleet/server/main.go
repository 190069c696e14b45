package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	schema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const (
	loopback = "127.0.0.1"
	only     = "active" // the one cluster
)

func main() {
	db := flag.String("db", "", "keep the state in `FILE`")
	address := flag.String("address", "127.0.0.1:7233", "listen at this `ADDRESS` of this machine")
	older := flag.Bool("without-versions", false, "as a server that is older than the versions of workers")
	flag.Parse()
	if err := serve(*db, *address, *older); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		os.Exit(3)
	}
}

// serve runs the server until a signal ends it.
func serve(db, address string, older bool) error {
	if db == "" {
		return errors.New("it is not said where the state is kept (fix: name a file with --db)")
	}
	host, text, err := net.SplitHostPort(address)
	port, perr := strconv.Atoi(text)
	if err != nil || perr != nil || host != loopback {
		return fmt.Errorf("%q is no address of this machine (fix: --address 127.0.0.1:7233)", address)
	}
	c, err := configuration(db, port)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(db), 0o700); err != nil {
		return err
	}
	lock, err := hold(db + ".lock")
	if err != nil {
		return err
	}
	defer lock.Close()
	store := c.Persistence.DataStores[sqlite.PluginName].SQL
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		if err := schema.SetupSchema(store); err != nil {
			return fmt.Errorf("the database can't be made: %w", err)
		}
	}
	namespace, err := schema.NewNamespaceConfig(only, "default", false, nil)
	if err != nil {
		return err
	}
	if err := schema.CreateNamespaces(store, namespace); err != nil {
		return fmt.Errorf("the database can't be used: %w", err)
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "error"}))
	claims, err := authorization.GetClaimMapperFromConfig(&c.Global.Authorization, logger)
	if err != nil {
		return err
	}
	// They are all in this process: one that was killed has left others in the database, and to look for those takes a minute.
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, s := range c.Services {
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(net.JoinHostPort(loopback, strconv.Itoa(s.RPC.GRPCPort)))
	}
	server, err := temporal.NewServer(temporal.WithConfig(c), temporal.ForServices(temporal.DefaultServices), temporal.WithLogger(logger), temporal.WithStaticHosts(hosts),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
		temporal.WithDynamicConfigClient(settings(older)), temporal.InterruptOn(temporal.InterruptCh()))
	if err != nil {
		return err
	}
	return server.Start()
}

// hold takes the database for this process: two servers would each overwrite what the other has written. One that was told to end
// may need a moment.
func hold(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, nil
		} else if time.Now().After(end) {
			return nil, errors.Join(fmt.Errorf("another server has the database %s (fix: --db FILE for this one)", strings.TrimSuffix(file, ".lock")), f.Close())
		}
	}
}

// settings lift the limits on how often queues are looked at: they are meant for a cluster that
// shares a database, and make each step wait.
func settings(older bool) dynamicconfig.StaticClient {
	c := dynamicconfig.StaticClient{dynamicconfig.EnableDeploymentVersions.Key(): !older}
	for _, queue := range []string{"transfer", "timer", "visibility", "outbound"} {
		c[dynamicconfig.MakeKey("history."+queue+"ProcessorMaxPollRPS")] = 1000
	}
	return c
}

func configuration(db string, port int) (*config.Config, error) {
	at := net.JoinHostPort(loopback, strconv.Itoa(port))
	c := &config.Config{
		Persistence: config.Persistence{DefaultStore: sqlite.PluginName, VisibilityStore: sqlite.PluginName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{sqlite.PluginName: {SQL: &config.SQL{PluginName: sqlite.PluginName, DatabaseName: db,
				ConnectAttributes: map[string]string{"mode": "rwc", "_journal_mode": "wal", "_synchronous": "2"}}}}},
		ClusterMetadata: &cluster.Config{FailoverVersionIncrement: 10, MasterClusterName: only, CurrentClusterName: only,
			ClusterInformation: map[string]cluster.ClusterInformation{only: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: at}}},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: at},
		Services:            map[string]config.Service{},
		Archival:            config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History: config.HistoryArchivalNamespaceDefaults{State: "disabled"}, Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"}}},
	}
	for _, name := range []string{"frontend", "history", "matching", "worker"} {
		own := port
		if name != "frontend" {
			var err error
			if own, err = free(); err != nil {
				return nil, err
			}
		}
		c.Services[name] = config.Service{RPC: config.RPC{GRPCPort: own, BindOnIP: loopback}}
	}
	return c, nil
}

// free is a port that nobody has.
func free() (int, error) {
	l, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
