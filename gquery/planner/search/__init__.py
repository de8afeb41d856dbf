"""Order, tree, groups and strategies, by cost."""
