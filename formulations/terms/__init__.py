"""The pieces programs are made of: per-second variables, acceptance laws, ways to share the uplink."""
