"""Formulations held against closed forms, the papers' algorithms and enumeration, on random scenarios."""
