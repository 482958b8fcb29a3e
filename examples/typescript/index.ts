// A PyTorch job with a secret, in TypeScript.
import * as pulumi from "@pulumi/pulumi";
import * as volcano from "@pulumi/volcano-jobs";

// A secret stays one: in the state it is encrypted.
const token = new pulumi.Config().requireSecret("token");

// The template of a Pod, as in YAML; Inputs may stand at its leaves.
const pod = {
    spec: {
        restartPolicy: "OnFailure",
        containers: [
            {
                name: "train",
                image: "ghcr.io/me/train:1",
                command: ["python", "train.py"],
                env: [{ name: "TOKEN", value: token }],
            },
        ],
    },
};

const job = new volcano.VolcanoJob("train", {
    queue: "research",
    plugins: { pytorch: ["--port=29500"], ssh: [] },
    tasks: [
        { name: "master", replicas: 1, template: pod },
        { name: "worker", replicas: 2, template: pod },
    ],
});

export const pods = job.podNames;
export const workers = job.hosts.apply((hosts) => hosts["worker"]);
