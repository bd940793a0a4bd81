#!/usr/bin/python3
"""ci.py github ACTION [NAME=VALUE...] - runs the steps of a composite action here, as GitHub's runner does.
ci.py gitlab TEMPLATE [NAME=VALUE...] - the same of a GitLab template's job."""
import os
import subprocess
import sys

import yaml


def github(action, given):
    values = {name: str(rule.get("default", "")) for name, rule in action["inputs"].items()}
    missing = [name for name, rule in action["inputs"].items() if rule.get("required") and name not in given]
    unknown = set(given) - set(values)
    if missing or unknown:
        sys.exit(f"ci: missing {missing}, unknown {sorted(unknown)}")
    values.update(given)
    temporary = os.path.abspath("runner")
    os.makedirs(temporary, exist_ok=True)
    environment = dict(os.environ, RUNNER_TEMP=temporary, GITHUB_STEP_SUMMARY=f"{temporary}/summary", GITHUB_PATH=f"{temporary}/path")
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash", "a composite action names the shell of each step"
        condition = step.get("if")
        if condition and not values[condition.removeprefix("inputs.").removesuffix(" != ''")]:
            continue
        for name, value in step.get("env", {}).items():
            inner = value.removeprefix("${{ inputs.").removesuffix(" }}")
            environment[name] = values[inner]
        assert "${{" not in step["run"], "inputs in the text of a script can inject commands"
        status = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=environment).returncode
        if os.path.exists(environment["GITHUB_PATH"]):
            environment["PATH"] = open(environment["GITHUB_PATH"]).read().strip() + ":" + os.environ["PATH"]
        if status:
            return status
    return 0


def gitlab(template, given):
    job = template[".libleak"]
    environment = dict(os.environ, **{name: str(value) for name, value in job["variables"].items()}, **{})
    environment.update(given)
    assert job["artifacts"]["reports"]["junit"] == "leaks.*.xml" and job["artifacts"]["when"] == "always"
    script = "set -eo pipefail\n" + "\n".join(job["before_script"] + job["script"])
    return subprocess.run(["bash", "-c", script], env=environment).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("github", "gitlab"):
        sys.exit(__doc__)
    kind = {"github": github, "gitlab": gitlab}[sys.argv[1]]
    sys.exit(kind(yaml.safe_load(open(sys.argv[2])), dict(word.split("=", 1) for word in sys.argv[3:])))
