"""How results look on a terminal; everything here takes finished values and draws them."""
