"""Reads one table's log behind HTTPS from its first event to its last, page by page."""

from pathlib import Path

from device.central_history import CentralHistory, CentralUnreadable, Take
from device.https_connection import ask, https_client
from device.https_protocol import check_address, last_path, page_target, read_end
from device.table_key import TableKey
from device.uplink_protocol import DeliveryError, LogEnd


def https_history(address: str, site: str, table: str, key: TableKey, ca: Path | None) -> CentralHistory:
    """The log of the table that has `key` at the central system behind `address`; `ca` as for `HttpsSystem`.

    Raises ValueError for a wrong name or address.
    """
    address = check_address(address)
    end_path = last_path(site, table)

    async def end() -> LogEnd:
        try:
            async with https_client(address, ca) as client:
                return read_end(await ask(client, key, "GET", end_path))
        except DeliveryError as error:
            raise CentralUnreadable(str(error)) from error

    async def read(take: Take) -> LogEnd:
        try:
            async with https_client(address, ca) as client:
                end = read_end(await ask(client, key, "GET", end_path))
                seq = 0
                while seq < end.seq:
                    page = (await ask(client, key, "GET", page_target(site, table, seq + 1))).body
                    if not page:
                        raise CentralUnreadable(f"the central log has nothing behind event {seq}; try again")
                    # What came since is not asked for.
                    lines = page.split(b"\n")[: end.seq - seq]
                    seq += len(lines)
                    take(b"\n".join(lines), end)
                return end
        except DeliveryError as error:
            raise CentralUnreadable(str(error)) from error

    return CentralHistory(f"{site}/{table} at {address}", end, read)
