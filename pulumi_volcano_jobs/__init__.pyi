# The public names and their modules; lazy_loader loads a module when one of its names is used.

from . import presets as presets
from .component import (
    DependsOnArgs as DependsOnArgs,
)
from .component import (
    KubernetesObject as KubernetesObject,
)
from .component import (
    NetworkTopologyArgs as NetworkTopologyArgs,
)
from .component import (
    PartitionPolicyArgs as PartitionPolicyArgs,
)
from .component import (
    PolicyArgs as PolicyArgs,
)
from .component import (
    TaskArgs as TaskArgs,
)
from .component import (
    TaskOverrides as TaskOverrides,
)
from .component import (
    VolcanoJob as VolcanoJob,
)
from .component import (
    VolcanoJobArgs as VolcanoJobArgs,
)
from .component import (
    VolcanoJobOverrides as VolcanoJobOverrides,
)
from .component import (
    VolcanoQueue as VolcanoQueue,
)
from .component import (
    VolcanoQueueArgs as VolcanoQueueArgs,
)
from .component import (
    VolumeArgs as VolumeArgs,
)
from .component import (
    pod_template as pod_template,
)
from .core.errors import JobError as JobError
from .core.errors import Problem as Problem
from .files.job_file import load_jobs as load_jobs
from .kubernetes.manifest import Container as Container
from .kubernetes.manifest import ObjectRef as ObjectRef
from .kubernetes.manifest import Pod as Pod
from .kubernetes.template_types import (
    ContainerDict as ContainerDict,
)
from .kubernetes.template_types import (
    PodSpecDict as PodSpecDict,
)
from .kubernetes.template_types import (
    PodTemplateSpecDict as PodTemplateSpecDict,
)
from .plugins import (
    EnvPlugin as EnvPlugin,
)
from .plugins import (
    HcclrankPlugin as HcclrankPlugin,
)
from .plugins import (
    MpiPlugin as MpiPlugin,
)
from .plugins import (
    Plugin as Plugin,
)
from .plugins import (
    PytorchPlugin as PytorchPlugin,
)
from .plugins import (
    RayPlugin as RayPlugin,
)
from .plugins import (
    SshPlugin as SshPlugin,
)
from .plugins import (
    SvcPlugin as SvcPlugin,
)
from .plugins import (
    TensorflowPlugin as TensorflowPlugin,
)
from .plugins import (
    register as register,
)
from .plugins.base import JobUpdate as JobUpdate
from .plugins.base import PluginOutput as PluginOutput
from .plugins.base import Stage as Stage
from .plugins.context import JobContext as JobContext
from .plugins.settings import flag as flag
from .plugins.ssh_keys import KeyPair as KeyPair
from .plugins.svc_allow import Allow as Allow
from .rendering.renderer import Rendered as Rendered
from .rendering.renderer import render as render
from .spec.cluster import ClusterFacts as ClusterFacts
from .spec.cluster import Queue as Queue
from .spec.job_defaults import JobDefaults as JobDefaults
from .spec.model import (
    DependsOn as DependsOn,
)
from .spec.model import (
    Job as Job,
)
from .spec.model import (
    NetworkTopology as NetworkTopology,
)
from .spec.model import (
    PartitionPolicy as PartitionPolicy,
)
from .spec.model import (
    Policy as Policy,
)
from .spec.model import (
    Task as Task,
)
from .spec.model import (
    Volume as Volume,
)
