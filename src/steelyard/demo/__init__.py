"""The bundled example project and the story it tells."""
