"""The command line and the reports: built from msopt, formulations and verification.

Reading order: `cli` (a file for each command), `methods` (plain records), then what shows records to people:
`shared/solution_tables` (terminal), `page` and `plots` (Markdown and figures). A function that shows something never
solves; a function that solves never shows.
"""
