// Command pulumi-resource-kubernetes is Pulumi's Kubernetes provider, built from its Go module.
//
// The module's own main embeds two files that a release build generates and the module lacks; the build
// (tools/build.py) copies their sources, which the module has, beside this file.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var pulumiSchema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, pulumiSchema, terraformMapping)
}
