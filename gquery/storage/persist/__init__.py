"""A graph on disk: one folder of Arrow IPC files that open by memory map, and a manifest that names them.

A save writes new files beside the old ones, makes them durable, and then swaps the manifest in one step; only then are
the old files removed. So whenever a save is killed, the folder holds a whole graph: the old one or the new one.
"""

from gquery.storage.persist.manifest import is_saved
from gquery.storage.persist.open import open_snapshot
from gquery.storage.persist.save import save

__all__ = ["is_saved", "open_snapshot", "save"]
