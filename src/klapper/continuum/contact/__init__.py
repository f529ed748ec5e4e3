"""Contact and tying between bodies at large strains: node-to-segment and mortar interfaces."""
