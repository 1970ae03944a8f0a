"""What a device may choose besides a length: payload, draft model, tree, sitting out; overlap; who drafts."""
