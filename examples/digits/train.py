#!/usr/bin/python3
"""Train a small convolutional network on the UCI handwritten digits, and never lose more than one epoch.

Plain PyTorch: it knows nothing of Teson and runs anywhere. What lets it survive a lost machine is here in full:

* after each epoch everything that the rest of the run depends on is saved: weights, optimiser, position and the state
  of the random generator, so a resumed run ends with the very model of an uninterrupted one;
* a save is written beside its target, flushed to the disk and then renamed, so a reader sees the old one or the new
  one, never half of one;
* SIGTERM (a spot interruption, a stop) ends the current step, saves, and exits with 143 = 128 + SIGTERM.

    train.py [--checkpoints DIR] [--model DIR] [--epochs N]
"""
import argparse
import math
import os
import signal
import sys
import time

import torch
from sklearn.datasets import load_digits
from torch import nn

SEED = 20
BATCH = 32
LEARNING_RATE = 1e-3
CHECKPOINT = "checkpoint.pt"
EXIT_ON_SIGTERM = 128 + signal.SIGTERM


def parse_arguments(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoints", metavar="DIR", default=os.environ.get("TESON_CHECKPOINTS", "checkpoints"),
                        help="where to save and look for a checkpoint (default: $TESON_CHECKPOINTS, else ./checkpoints)")
    parser.add_argument("--model", metavar="DIR", default="model", help="where the final model goes (default: ./model)")
    parser.add_argument("--epochs", type=int, default=20, help="passes over the training data (default: 20)")
    arguments = parser.parse_args(argv)
    if arguments.epochs < 1:
        parser.error(f"--epochs is {arguments.epochs}; it must be at least 1")
    return arguments


def load_data():
    """Images as (n, 1, 8, 8) floats in 0..1 and labels 0..9; a fifth is held out by a fixed permutation."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SEED))
    held_out, training = order[: len(order) // 5], order[len(order) // 5:]
    return (images[training], labels[training]), (images[held_out], labels[held_out])


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(128 * 2 * 2, 10),
    )


def shift(images):
    """Moves each batch by up to a pixel each way, so that the network does not learn positions by heart."""
    down, right = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(images, shifts=(down, right), dims=(2, 3))


def save_atomically(value, path):
    """After return `path` holds `value` even if the power fails; before, it holds what it held."""
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        torch.save(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


class Training:
    """All that changes while training, and so all that a checkpoint holds."""

    def __init__(self):
        torch.manual_seed(SEED)
        self.model = make_model()
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE)
        self.epoch = 0       # epochs that are complete
        self.step = 0        # steps done in the epoch under way
        self.order = None    # the shuffled samples of the epoch under way
        self.loss_sum = 0.0  # over those steps

    def save(self, path):
        save_atomically({
            "model": self.model.state_dict(), "optimiser": self.optimiser.state_dict(), "epoch": self.epoch,
            "step": self.step, "order": self.order, "loss_sum": self.loss_sum, "random": torch.get_rng_state(),
        }, path)

    def restore(self, path):
        saved = torch.load(path)
        self.model.load_state_dict(saved["model"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.epoch, self.step = saved["epoch"], saved["step"]
        self.order, self.loss_sum = saved["order"], saved["loss_sum"]
        torch.set_rng_state(saved["random"])

    def run_epoch(self, images, labels, epochs, interrupted):
        """Trains to the end of the epoch and returns its mean loss, or None if interrupted() became true before."""
        if self.order is None:
            self.order = torch.randperm(len(labels))
        for group in self.optimiser.param_groups:  # from its full value down to nothing along a cosine
            group["lr"] = LEARNING_RATE * (1 + math.cos(math.pi * self.epoch / epochs)) / 2
        self.model.train()
        batches = self.order.split(BATCH)
        while self.step < len(batches):
            if interrupted():
                return None
            batch = batches[self.step]
            self.optimiser.zero_grad()
            loss = nn.functional.cross_entropy(self.model(shift(images[batch])), labels[batch])
            loss.backward()
            self.optimiser.step()
            self.loss_sum += loss.item()
            self.step += 1
        mean = self.loss_sum / len(batches)
        self.epoch, self.step, self.order, self.loss_sum = self.epoch + 1, 0, None, 0.0
        return mean


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def main():
    arguments = parse_arguments()
    terminated = []
    signal.signal(signal.SIGTERM, lambda number, frame: terminated.append(number))

    torch.set_num_threads(1)  # the network is too small to gain from more, and sums keep their order
    torch.use_deterministic_algorithms(True)
    os.makedirs(arguments.checkpoints, exist_ok=True)
    os.makedirs(arguments.model, exist_ok=True)
    checkpoint = os.path.join(os.path.abspath(arguments.checkpoints), CHECKPOINT)

    (images, labels), held_out = load_data()
    training = Training()
    if os.path.exists(checkpoint):
        training.restore(checkpoint)
        print(f"resuming from {checkpoint}: {training.epoch} of {arguments.epochs} epochs are done", flush=True)
    else:
        print(f"starting afresh: {len(labels)} images to learn, {len(held_out[1])} held out", flush=True)

    began = time.monotonic()
    while training.epoch < arguments.epochs:
        loss = training.run_epoch(images, labels, arguments.epochs, lambda: terminated)
        training.save(checkpoint)
        if loss is None:
            print(f"SIGTERM: saved in epoch {training.epoch + 1} after {training.step} steps", flush=True)
            return EXIT_ON_SIGTERM
        print(f"epoch {training.epoch}/{arguments.epochs} loss={loss:.4f} "
              f"accuracy={accuracy(training.model, *held_out):.4f}", flush=True)

    path = os.path.join(os.path.abspath(arguments.model), "model.pt")
    save_atomically(training.model.state_dict(), path)
    print(f"trained for {time.monotonic() - began:.1f} s in this run; model: {path}", flush=True)
    print(f"held-out accuracy {accuracy(training.model, *held_out):.4f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
