// A real kube-apiserver with an etcd inside, for tests. It takes the flags of kube-apiserver; KAPI_ETCD_DIR is the folder of etcd,
// which listens on a free port of the loopback. With KAPI_EXIT_WITH_STDIN it ends with the process that holds its standard input.
package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func startEtcd(dir string) (string, error) {
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return "", err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd.Clients[0].Addr().String(), nil
	case <-time.After(20 * time.Second):
		return "", fmt.Errorf("etcd is not ready after 20 s")
	}
}

func main() {
	if os.Getenv("KAPI_EXIT_WITH_STDIN") != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	address, err := startEtcd(os.Getenv("KAPI_ETCD_DIR"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Args = append(os.Args, "--etcd-servers=http://"+address)
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
