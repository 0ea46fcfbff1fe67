"""Reads what Gradus wrote for trackers with their own Python packages, and compares every value with the run's own rows.

Setup (once, in any folder):

    python3 -m venv venv && venv/bin/pip install tensorboard mlflow trackio

Servers of their own, in a scratch folder:

    venv/bin/mlflow server --host 127.0.0.1 --port 5071 --backend-store-uri sqlite:///mlflow.db --artifacts-destination artifacts
    TRACKIO_DIR=trackio TRACKIO_WRITE_TOKEN=a-token GRADIO_SERVER_PORT=7871 venv/bin/trackio show

Then train with trackers, or deliver a run that is there:

    TRACKIO_WRITE_TOKEN=a-token gradus export RUN --tensorboard logs --mlflow http://127.0.0.1:5071 --experiment peers \
        --trackio http://127.0.0.1:7871 --project peers

Run:

    venv/bin/python scripts/peers/read_trackers.py RUN --tensorboard logs/RUN-NAME
    venv/bin/python scripts/peers/read_trackers.py RUN --mlflow http://127.0.0.1:5071 --experiment peers
    venv/bin/python scripts/peers/read_trackers.py RUN --trackio http://127.0.0.1:7871 --project peers

Options may be given together. Prints a line for each reader: its version, the points that the run has, those that the reader has,
and how many are missing, doubled, unknown to the run, or of another value (TensorBoard keeps 32 bits, and is compared with the
value rounded to them). Timings of a step that was made again after a kill are apart: MLflow and trackio keep those of its first
making, or lack them. Exit code 1 unless all else agrees.
"""

import argparse
import json
import math
import struct
import sys
import urllib.request
from collections import Counter
from importlib.metadata import version
from pathlib import Path


def numbers(value, path, into):
    """Finite numbers inside a row by their path."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        if math.isfinite(value):
            into[path] = float(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            numbers(item, f"{path}/{key}" if path else key, into)


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []


def points_of_run(run):
    """(name, step) -> values, from metrics.jsonl and evals.jsonl alone."""
    points = {}
    for row in rows(run / "metrics.jsonl"):
        step = row.pop("step")
        found = {}
        numbers(row, "", found)
        for name, value in found.items():
            points.setdefault((name, step), []).append(value)
    for row in rows(run / "evals.jsonl"):
        base, found = f"eval/{row['set']}", {}
        def scores(all_scores, under):
            for name, score in all_scores.items():
                numbers(score.get("value"), f"{under}/{name}", found)
                for end, at in zip(("low", "high"), score.get("interval") or []):
                    numbers(at, f"{under}/{name}/{end}", found)
        scores(row["scores"], base)
        for key in ("responseTokens", "judgeNullRate", "judgeCalls", "criteria", "balance", "judged"):
            numbers(row.get(key), f"{base}/{key}", found)
        numbers(row.get("figures"), base, found)
        for name, source in (row.get("bySource") or {}).items():
            scores(source["scores"], f"{base}/{name}")
            numbers(source.get("criteria"), f"{base}/{name}/criteria", found)
        for name, value in found.items():
            points.setdefault((name, row["step"]), []).append(value)
    return points


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def compare(reader, ours, theirs, rounded=lambda value: value):
    """theirs: (name, step) -> values. Prints the line, and says whether all agree."""
    late = [
        at
        for at, values in ours.items()
        if at[0].startswith("time/") and at not in theirs or len(theirs.get(at, [])) == 1 == len(values)
        and at[0].startswith("time/") and rounded(values[0]) != theirs[at][0]
    ]
    ours = {at: values for at, values in ours.items() if at not in late}
    theirs = {at: values for at, values in theirs.items() if at not in late}
    missing = [at for at in ours if at not in theirs]
    unknown = [at for at in theirs if at not in ours]
    doubled = [at for at in ours if len(theirs.get(at, [])) > len(ours[at])]
    different = [
        at
        for at, values in ours.items()
        if at in theirs and Counter(map(rounded, values)) != Counter(theirs[at]) and at not in doubled
    ]
    print(
        f"{reader}: the run has {sum(map(len, ours.values()))} points under {len({name for name, _ in ours})} names, "
        f"the reader {sum(map(len, theirs.values()))}; missing {len(missing)}, doubled {len(doubled)}, "
        f"unknown {len(unknown)}, of another value {len(different)}"
        + (f"; timings of another making of a step: {len(late)}" if late else "")
    )
    for word, some in (("missing", missing), ("doubled", doubled), ("unknown", unknown), ("different", different)):
        for at in some[:5]:
            print(f"  {word}: {at}: {ours.get(at)} in the run, {theirs.get(at)} there", file=sys.stderr)
    return not (missing or unknown or doubled or different)


def read_tensorboard(folder, ours):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    accumulator = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    accumulator.Reload()
    theirs = {}
    for tag in accumulator.Tags()["scalars"]:
        for event in accumulator.Scalars(tag):
            theirs.setdefault((tag, event.step), []).append(event.value)
    if not theirs:  # newer versions read scalars as tensors
        from tensorboard.util import tensor_util

        for tag in accumulator.Tags()["tensors"]:
            if "text_summary" in tag:
                continue
            for event in accumulator.Tensors(tag):
                theirs.setdefault((tag, event.step), []).append(float(tensor_util.make_ndarray(event.tensor_proto)))
    records = sum(1 for path in Path(folder).glob("*tfevents*") for _ in RawEventFileLoader(str(path)).Load())
    good = compare(f"tensorboard {version('tensorboard')} ({records} records)", ours, theirs, float32)
    print(f"  texts: {[tag for tag in accumulator.Tags()['tensors'] if 'text_summary' in tag]}")
    return good


def read_mlflow(uri, experiment, run, ours):
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    found = client.get_experiment_by_name(experiment)
    runs = client.search_runs(
        [found.experiment_id],
        f"attributes.run_name = '{run.resolve().name}'",
        order_by=["attributes.created DESC"],
    )
    runs = [one for one in runs if "gradus.replaced" not in one.data.tags]
    if len(runs) != 1:
        print(f"mlflow: expected one run of the name {run.resolve().name}, got {len(runs)}")
        return False
    theirs = {}
    for name in runs[0].data.metrics:
        for metric in client.get_metric_history(runs[0].info.run_id, name):
            theirs.setdefault((name, metric.step), []).append(metric.value)
    good = compare(f"mlflow {version('mlflow')}", ours, theirs)
    print(f"  status {runs[0].info.status}, {len(runs[0].data.params)} params, tags {sorted(runs[0].data.tags)}")
    return good


def read_trackio(uri, project, run, ours):
    """By the server's read functions, over HTTP, as its dashboard asks."""

    def call(name, **kwargs):
        request = urllib.request.Request(
            f"{uri}/api/{name}", json.dumps(kwargs).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["data"]

    runs = [one for one in call("get_runs_for_project", project=project) if one["name"] == run.resolve().name]
    theirs = {}
    for entry in call("get_logs", project=project, run=runs[-1]["name"], run_id=runs[-1]["id"]):
        step = entry["step"]
        for name, value in entry.items():
            if name not in ("step", "timestamp") and isinstance(value, (int, float)):
                theirs.setdefault((name, step), []).append(float(value))
    return compare(f"trackio {version('trackio')}", ours, theirs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("--tensorboard", type=Path)
    parser.add_argument("--mlflow")
    parser.add_argument("--experiment", default="gradus")
    parser.add_argument("--trackio")
    parser.add_argument("--project", default="gradus")
    options = parser.parse_args()
    ours = points_of_run(options.run)
    results = []
    if options.tensorboard:
        results.append(read_tensorboard(options.tensorboard, ours))
    if options.mlflow:
        results.append(read_mlflow(options.mlflow, options.experiment, options.run, ours))
    if options.trackio:
        results.append(read_trackio(options.trackio, options.project, options.run, ours))
    if not results:
        parser.error("expected --tensorboard, --mlflow or --trackio")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
