"""Behind every backend: partial matches become matches, of parallel edges and of vertices that nothing joins, too."""
