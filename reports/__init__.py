"""The command line and the reports: built from msopt, and later from formulations and verification.

Reading order: `cli` (the commands), `scoring` and `comparison` (plain records), then what shows records to
people: `summary`, `tables` (terminal), `page`, `figures` (Markdown and figures). A function that shows
something never solves; a function that solves never shows.
"""
