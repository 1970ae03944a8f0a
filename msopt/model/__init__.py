"""The model: what a scenario is, how a share becomes a rate, what a control yields; every solver's only input."""
