"""The paper's data sets by name: where they come from and how to get them."""
