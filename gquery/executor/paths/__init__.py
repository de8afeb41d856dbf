"""Relationships of variable length: paths that are listed hop by hop, and sweeps that go breadth first."""
