"""The order in which keys were used."""


class Recency:
    """Keys from the one that was used least recently to the latest."""

    def __init__(self):
        self._keys = []

    def touch(self, key):
        """Make a key, old or new, the latest."""
        if key in self._keys:
            self._keys.remove(key)
        self._keys.append(key)

    def forget(self, key):
        """Take a key out."""
        self._keys.remove(key)

    def oldest(self):
        """The key that was used least recently."""
        return self._keys[0]
