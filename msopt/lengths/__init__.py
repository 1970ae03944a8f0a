"""[MS]'s problems: draft lengths and the split of the band, relaxed and whole, with proof (design sections 3, 4).

- One length for all: `homogeneous`.
- Real lengths: `need` says what bandwidth they take, `response` what a device drafts at given prices. `newton` solves
  the linearised `conditions`, fast where all is smooth, `nested` searches where not, `gap` proves; `relaxed` chooses.
- Whole lengths: `region_search` with the bounds of `multiple_choice` and the lists of `enumeration`; `heterogeneous`
  starts it from real ones. `together` does many scenarios at once; in `separable` ones only the deadline is shared.

Every iteration goes from a start in steps until it has ended: of itself, not by the most steps or a limit on the work.
A point is where it is; an optimum, or a proof, what it hands on: lengths, their goodput and a bound for all others.
"""
