"""Runs sealed on storage that speaks S3, and datasets that lie there."""
