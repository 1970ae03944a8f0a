"""The declared problems, one file each."""
