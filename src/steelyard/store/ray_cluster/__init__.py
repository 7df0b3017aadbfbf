"""Workers of a run on the nodes of a Ray cluster; ray is imported when one is asked for."""
