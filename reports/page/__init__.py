"""The report: what is computed for it, its tables, its page; a function of a record."""
