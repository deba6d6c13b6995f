"""One module a family of formats; each names its formats in ``FORMATS`` and imports its library when it reads."""
