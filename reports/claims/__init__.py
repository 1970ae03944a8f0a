"""What the papers say, judged by one rule from recorded cases."""
