"""Bodies at large strains: assembly and implicit steps beside other programs."""
