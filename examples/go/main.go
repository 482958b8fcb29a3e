// A PyTorch job with a secret, in Go.
package main

import (
	volcanojobs "example.com/pulumi-volcano-jobs/sdk/go/volcanojobs"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		// A secret stays one: in the state it is encrypted.
		token := config.New(ctx, "").RequireSecret("token")

		// The template of a Pod, as in YAML; Inputs may stand at its leaves.
		pod := map[string]any{
			"spec": map[string]any{
				"restartPolicy": "OnFailure",
				"containers": []any{map[string]any{
					"name":    "train",
					"image":   "ghcr.io/me/train:1",
					"command": []string{"python", "train.py"},
					"env":     []any{map[string]any{"name": "TOKEN", "value": token}},
				}},
			},
		}

		job, err := volcanojobs.NewVolcanoJob(ctx, "train", &volcanojobs.VolcanoJobArgs{
			Queue: pulumi.String("research"),
			Plugins: map[string][]pulumi.StringInput{
				"pytorch": {pulumi.String("--port=29500")},
				"ssh":     {},
			},
			Tasks: []volcanojobs.TaskArgs{
				{Name: pulumi.StringRef("master"), Replicas: pulumi.IntRef(1), Template: pod},
				{Name: pulumi.StringRef("worker"), Replicas: pulumi.IntRef(2), Template: pod},
			},
		})
		if err != nil {
			return err
		}

		ctx.Export("pods", job.PodNames)
		ctx.Export("workers", job.Hosts.MapIndex(pulumi.String("worker")))
		return nil
	})
}
