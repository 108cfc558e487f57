"""From syntax to kernel: names resolved, types checked, sugar expanded, with the parameters bound."""
