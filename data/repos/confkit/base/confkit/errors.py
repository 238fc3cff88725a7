"""What can go wrong."""


class ConfigError(Exception):
    """A file that is no settings file."""
