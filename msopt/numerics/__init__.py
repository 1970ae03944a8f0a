"""Numerical pieces on plain numbers and arrays, which know no scenario: special functions, intervals, a knapsack."""
