"""A first model: a net with one hidden layer learns the values of awari positions from a sample, with NumPy alone.

Usage: model.py TRAIN.npy TEST.npy, samples of `grenier awari sample --format npy`.
"""

import sys

import numpy as np

HIDDEN, EPOCHS, BATCH, RATE = 64, 12, 256, 2e-3
MOST = 15  # seeds of a pit that are told apart: this many, or more


def features(pits):
    """A row for each board: for each pit and number of seeds whether that is what it holds."""
    return np.eye(MOST + 1, dtype=np.float32)[np.minimum(pits, MOST)].reshape(len(pits), -1)


def rmse(model, rows):
    """The root of the mean square of the errors of a model, in seeds."""
    errors = [model(features(part["pits"])) - part["value"] for part in np.array_split(rows, 100)]
    return np.sqrt(np.mean(np.concatenate(errors) ** 2))


def linear(train):
    """The best sum of a number for each pit and number of seeds."""
    x = features(train["pits"][:50_000])
    weights = np.linalg.lstsq(x, train["value"][:50_000].astype(np.float32), rcond=None)[0]
    return lambda x: x @ weights


def net(train, rng):
    """A net that Adam fits to the values."""
    inputs = features(train["pits"][:1]).shape[1]
    params = [
        rng.normal(0, (2 / 12) ** 0.5, (inputs, HIDDEN)).astype(np.float32), np.zeros(HIDDEN, np.float32),
        rng.normal(0, (1 / HIDDEN) ** 0.5, (HIDDEN, 1)).astype(np.float32), np.zeros(1, np.float32),
    ]
    means, squares = [np.zeros_like(p) for p in params], [np.zeros_like(p) for p in params]
    steps = EPOCHS * (len(train) // BATCH)
    for step in range(steps):
        rows = train[rng.integers(0, len(train), BATCH)]
        x, y = features(rows["pits"]), rows["value"].astype(np.float32)[:, None]
        hidden = np.maximum(x @ params[0] + params[1], 0)
        error = (hidden @ params[2] + params[3] - y) / BATCH
        back = (error @ params[2].T) * (hidden > 0)
        rate = RATE * (1 - step / steps)
        for p, m, s, g in zip(params, means, squares, [x.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]):
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            p -= rate * (m / (1 - 0.9 ** (step + 1))) / (np.sqrt(s / (1 - 0.999 ** (step + 1))) + 1e-8)
    return lambda x: (np.maximum(x @ params[0] + params[1], 0) @ params[2] + params[3])[:, 0]


def main(train_file, test_file):
    train, test = np.load(train_file), np.load(test_file)
    print(f"{len(train)} positions to learn from, {len(test)} others to judge by; errors in seeds (rmse):")
    mean = train["value"].mean()
    print(f"always the mean     {rmse(lambda x: np.full(len(x), mean), test):.2f}")
    print(f"linear              {rmse(linear(train), test):.2f}")
    print(f"a net of {HIDDEN} units   {rmse(net(train, np.random.default_rng(1)), test):.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
