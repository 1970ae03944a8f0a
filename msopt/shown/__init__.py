"""How the package's objects show themselves: a line, a few lines, a notebook's table, a picture."""
