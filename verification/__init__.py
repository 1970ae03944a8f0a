"""Speculative decoding with real language models: exact sampling, both corrections, measured profiles.

Built on torch and transformers, which the extra `verification` installs (design section 8).
"""
