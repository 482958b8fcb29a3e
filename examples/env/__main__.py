"""Pods that know their index; the templates have the snake_case names of pulumi_kubernetes."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import EnvPlugin, PodTemplateSpecDict, SvcPlugin, VolcanoJob

# Both tasks run this; only the role differs. VC_TASK_INDEX comes from the env plugin, the files from the svc plugin.
SCRIPT = (
    r"""PS_HOST=`cat /etc/volcano/ps.host | sed 's/$/&:2222/g' | sed 's/^/"/;s/$/"/' | tr "\n" ","`;
WORKER_HOST=`cat /etc/volcano/worker.host | sed 's/$/&:2222/g' | sed 's/^/"/;s/$/"/' | tr "\n" ","`;
# 使用VC_TASK_INDEX环境变量配置TensorFlow任务索引
export TF_CONFIG={\"cluster\":{\"ps\":[${PS_HOST}],\"worker\":[${WORKER_HOST}]},"""
    r"""\"task\":{\"type\":\"@ROLE@\",\"index\":${VC_TASK_INDEX}},\"environment\":\"cloud\"};
python /var/tf_dist_mnist/dist_mnist.py
"""
)


def template(role: str) -> PodTemplateSpecDict:
    """Return the Pod template of a task: `ps` or `worker`."""
    return {
        "spec": {
            "containers": [
                {
                    "name": "tensorflow",
                    "image": "volcanosh/dist-mnist-tf-example:0.0.1",
                    "command": ["sh", "-c", SCRIPT.replace("@ROLE@", role)],
                    "ports": [{"container_port": 2222, "name": "tfjob-port"}],
                },
            ],
            "restart_policy": "Never",
        },
    }


opts = pulumi.ResourceOptions()
if not pulumi.Config().get_bool("cluster"):  # no cluster: the provider writes the manifests into a folder
    rendered = Path(__file__).with_name("rendered")
    rendered.mkdir(mode=0o700, exist_ok=True)  # ssh keys lie there in plain text
    opts.provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")

job = VolcanoJob(
    "tensorflow-dist-mnist",
    queue="default",
    min_available=3,
    plugins=[EnvPlugin(), SvcPlugin()],
    policies=[{"event": "PodEvicted", "action": "RestartJob"}],
    tasks=[
        {"name": "ps", "replicas": 1, "template": template("ps")},
        {
            "name": "worker",
            "replicas": 2,
            "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
            "template": template("worker"),
        },
    ],
    opts=opts,
)

pulumi.export("ps", job.tasks["ps"].hosts)
pulumi.export("workers", job.tasks["worker"].hosts)
pulumi.export("pods", job.pod_names)
