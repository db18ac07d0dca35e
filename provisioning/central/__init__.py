"""The central side: what takes, keeps and shows the histories of all tables."""
