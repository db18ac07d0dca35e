"""Run by alembic, on the connection and in the transaction of the archive."""

from alembic import context

from provisioning.central.archive_schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite changes its schema in a transaction as well, since the archive begins them itself.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
