"""Hardware to signals: header pins, the I/O node, and the node's own firmware."""
