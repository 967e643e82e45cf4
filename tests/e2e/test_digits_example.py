"""examples/digits/train.py by itself: it learns, saves whole checkpoints and resumes to the very same model."""
import os
import pathlib
import re
import signal
import subprocess

import pytest
import torch

TRAIN = pathlib.Path(__file__).resolve().parents[2] / "examples" / "digits" / "train.py"
EPOCHS = 5
DEADLINE_SECONDS = 120


def start(directory, epochs=EPOCHS, **environment):
    command = ["/usr/bin/python3", str(TRAIN), "--checkpoints", str(directory / "checkpoints"),
               "--model", str(directory / "model"), "--epochs", str(epochs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=directory,
                            env={**os.environ, **environment})


def run(directory, epochs=EPOCHS):
    process = start(directory, epochs)
    output, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 0, output
    return output


def interrupt_after(directory, line_start, number):
    """Starts a run, sends it the signal once it has printed such a line, and returns (exit code, later output)."""
    process = start(directory)
    for line in process.stdout:
        if line.startswith(line_start):
            break
    else:
        pytest.fail(f"the training never printed a line that starts with {line_start!r}")
    process.send_signal(number)
    output, _ = process.communicate(timeout=DEADLINE_SECONDS)
    return process.returncode, output


def weights(directory):
    return torch.load(directory / "model" / "model.pt")


def assert_same_model(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), f"{name} differs"


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("uninterrupted")
    output = run(directory)
    assert "starting afresh" in output
    return directory


def test_default_run_learns_the_digits(tmp_path):
    output = run(tmp_path, epochs=20)
    assert float(re.search(r"^held-out accuracy (\S+)$", output, re.M).group(1)) > 0.97
    assert len(re.findall(r"^epoch \d+/20 loss=\d+\.\d{4} accuracy=[01]\.\d{4}$", output, re.M)) == 20


def test_run_killed_between_saves_ends_with_the_same_model(tmp_path, uninterrupted):
    code, _ = interrupt_after(tmp_path, "epoch 2/", signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert not (tmp_path / "model" / "model.pt").exists()
    output = run(tmp_path)
    resumed = re.search(r"^resuming from \S+: (\d) of 5 epochs are done$", output, re.M)
    assert int(resumed.group(1)) >= 2
    assert "epoch 1/" not in output
    assert_same_model(weights(tmp_path), weights(uninterrupted))


def test_sigterm_saves_within_an_epoch_and_resumes_there(tmp_path, uninterrupted):
    code, output = interrupt_after(tmp_path, "epoch 2/", signal.SIGTERM)
    assert code == 143
    saved = re.search(r"^SIGTERM: saved in epoch (\d) after (\d+) steps$", output, re.M)
    checkpoint = torch.load(tmp_path / "checkpoints" / "checkpoint.pt")
    assert (checkpoint["epoch"] + 1, checkpoint["step"]) == (int(saved.group(1)), int(saved.group(2)))
    run(tmp_path)
    assert_same_model(weights(tmp_path), weights(uninterrupted))


def test_half_written_save_is_ignored(tmp_path, uninterrupted):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "checkpoint.pt.tmp").write_bytes(b"half of a checkp")
    assert "starting afresh" in run(tmp_path)
    assert_same_model(weights(tmp_path), weights(uninterrupted))
    assert not (tmp_path / "checkpoints" / "checkpoint.pt.tmp").exists()


def test_checkpoint_directory_comes_from_the_environment(tmp_path):
    process = subprocess.run(["/usr/bin/python3", str(TRAIN), "--epochs", "1"], cwd=tmp_path, text=True,
                             env={**os.environ, "TESON_CHECKPOINTS": str(tmp_path / "kept")},
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE_SECONDS, check=False)
    assert process.returncode == 0, process.stdout
    assert (tmp_path / "kept" / "checkpoint.pt").exists()
    assert (tmp_path / "model" / "model.pt").exists()


def test_zero_epochs_is_refused(tmp_path):
    process = start(tmp_path, epochs=0)
    output, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 2
    assert "--epochs is 0; it must be at least 1" in output
