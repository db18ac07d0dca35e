"""A system that cannot be written, with the table's data on a partition of its own.

The root stays as the kernel mounted it: read only. What Debian's own services write below /etc and /var lies over it in
memory and is gone at the next start; /var/lib/boxman is the data partition. A power cut can then tear nothing but the
data, whose file system is mended before it is mounted, and whose journal stands it.
"""

from collections.abc import Mapping

from provisioning.install.changes import Entry, File, Link
from provisioning.install.places import DATA, MARK, UNITS

_OVERLAY = "/run/boxman-overlay"
_OVER = ("/etc", "/var")
# What is known by a label and so on has its name here.
_BY = {"LABEL": "by-label", "PARTLABEL": "by-partlabel", "UUID": "by-uuid", "PARTUUID": "by-partuuid"}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.")
CHECK_UNIT = f"{UNITS}/boxman-data-check.service"


def device_of(partition: str) -> str:
    """The device of a partition that is named as in fstab(5), such as LABEL=boxman."""
    kind, equals, name = partition.partition("=")
    return f"/dev/disk/{_BY[kind]}/{name}" if equals else partition


def unit_name(path: str, suffix: str) -> str:
    """The unit's name that stands for a path (systemd.unit(5), "String escaping for inclusion in unit names")."""
    name = path.strip("/")
    escaped = [
        "-" if letter == "/" else letter if letter in _PLAIN and not (letter == "." and at == 0) else _hex(letter)
        for at, letter in enumerate(name)
    ]
    return "".join(escaped) + suffix


def _hex(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode())


def entries(partition: str, boot_folder: str | None) -> Mapping[str, Entry]:
    """All units for a system whose data is on `partition`, by path.

    `boot_folder` is where a Raspberry Pi's boot partition is mounted; None: it has none.
    """
    device = device_of(partition)
    found: dict[str, Entry] = {
        # Otherwise it would make the root writable, as /etc/fstab has it.
        f"{UNITS}/systemd-remount-fs.service": Link("/dev/null"),
        f"{UNITS}/boxman-overlay.service": File(_overlay_service()),
        f"{UNITS}/tmp.mount": File(_mount("tmpfs", "/tmp", "tmpfs", "mode=1777,nosuid,nodev,size=20%")),  # noqa: S108
        CHECK_UNIT: File(_check(device)),
        f"{UNITS}/{unit_name(DATA, '.mount')}": File(_data(device)),
    }
    for path in _OVER:
        layers = f"lowerdir={path},upperdir={_OVERLAY}{path}/upper,workdir={_OVERLAY}{path}/work"
        found[f"{UNITS}/{unit_name(path, '.mount')}"] = File(_mount("overlay", path, "overlay", layers, _AFTER_OVERLAY))
    if boot_folder is not None:
        options = f"{UNITS}/{unit_name(boot_folder, '.mount')}.d/boxman.conf"
        found[options] = File(f"# {MARK}\n[Mount]\nOptions=defaults,ro\n")
    for path in (*_OVER, "/tmp", DATA):  # noqa: S108
        unit = unit_name(path, ".mount")
        found[f"{UNITS}/local-fs.target.wants/{unit}"] = Link(f"{UNITS}/{unit}")
    return found


_AFTER_OVERLAY = "Requires=boxman-overlay.service\nAfter=boxman-overlay.service\n"


def _mount(what: str, where: str, kind: str, options: str, more: str = "") -> str:
    return f"""\
# {MARK}
[Unit]
Description={where} in memory
{more}
[Mount]
What={what}
Where={where}
Type={kind}
Options={options}
"""


def _overlay_service() -> str:
    folders = " ".join(f"{_OVERLAY}{path}/{part}" for path in _OVER for part in ("upper", "work"))
    return f"""\
# {MARK}
[Unit]
Description=Room in memory for what lies over a read-only system
DefaultDependencies=no
After=systemd-modules-load.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mkdir -p -m 0755 {folders}
"""


def _check(device: str) -> str:
    unit = unit_name(device, ".device")
    return f"""\
# {MARK}
# systemd's own check gives up where it would have to ask, and the kernel refuses what a power cut may leave in ext4's
# journal; this one mends both.
[Unit]
Description=Mends the file system of the table's data
DefaultDependencies=no
BindsTo={unit}
After={unit}
Before={unit_name(DATA, ".mount")}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/sbin/e2fsck -y {device}
# 1: mended.
SuccessExitStatus=1
TimeoutStartSec=10min
"""


def _data(device: str) -> str:
    return f"""\
# {MARK}
[Unit]
Description=The table's data
Requires=boxman-data-check.service
After=boxman-data-check.service

[Mount]
What={device}
Where={DATA}
Type=ext4
Options=noatime,nodev,nosuid,noexec,errors=remount-ro
"""
