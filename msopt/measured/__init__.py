"""What was measured on a pair of models or told by a running server, as records."""
