"""Exact scores of awari boards, from solved layers on disk or on a web server.

  import grenier

  with grenier.open("data/awari") as tables:  # or "https://host/awari/"
      tables.score([1, 1, 1, 1, 1, 2, 4, 2, 3, 0, 0, 0])
      tables.scores(boards)  # many at once: each block is read and decoded once

A board is the seeds of its pits, those of the player to move first. Its score is how many
seeds more than the opponent that player takes from now on, if both play perfectly.

The files are described in docs/format of Grenier. Modules: tables (boards and layers), rules (moves),
manifest (the list of layers), layer (one file), codec (blocks), vectors (what NumPy does), checksum (CRC-32C),
source (where bytes come from).
"""
from .errors import Corrupt, Error, ServerError, Unsolved
from .tables import Probe, Tables, open

__version__ = "2.0.0"

__all__ = ["open", "Tables", "Probe", "Error", "Corrupt", "ServerError", "Unsolved"]
