// Command sdkgen writes the Node.js or Go SDK of a Pulumi package from its schema.
//
// `pulumi package gen-sdk` does the same through the language's host, a program that no registry here has; the code
// that does it is in Pulumi's own packages, which this calls.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const usage = "usage: sdkgen SCHEMA nodejs|go FOLDER"

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sdkgen:", err)
		os.Exit(1)
	}
}

func run(file, language, folder string) error {
	pkg, err := read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	files, err := generate(pkg, language)
	if err != nil {
		return fmt.Errorf("%s for %s: %w", file, language, err)
	}
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// read checks the schema against Pulumi's own metaschema.
func read(file string) (*schema.Package, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(content, &spec); err != nil {
		return nil, err
	}
	pkg, problems, err := schema.BindSpec(spec, schema.NewNullLoader(), schema.ValidationOptions{})
	if err != nil {
		return nil, err
	}
	// A warning here is one in each `pulumi package add`.
	if len(problems) > 0 {
		return nil, problems
	}
	// As `pulumi package add` does: the SDK of Go is a module of its own.
	pkg.SupportPack = true
	return pkg, nil
}

func generate(pkg *schema.Package, language string) (map[string][]byte, error) {
	switch language {
	case "nodejs":
		// It would load packages that this one depends on; there are none.
		return nodejs.GeneratePackage("sdkgen", pkg, nil, nil, true, nil)
	case "go":
		return golang.GeneratePackage("sdkgen", pkg, nil)
	default:
		return nil, fmt.Errorf("the language is unknown; %s", usage)
	}
}
