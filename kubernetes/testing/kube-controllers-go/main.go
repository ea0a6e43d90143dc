// A real kube-controller-manager for tests. It takes the flags of kube-controller-manager. With KAPI_EXIT_WITH_STDIN it ends with
// the process that holds its standard input.
package main

import (
	"io"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	if os.Getenv("KAPI_EXIT_WITH_STDIN") != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
