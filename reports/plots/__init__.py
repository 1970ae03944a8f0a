"""Figures: pure functions from tidy tables to matplotlib figures in one style; nothing here solves anything."""
