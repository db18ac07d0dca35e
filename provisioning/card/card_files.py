"""The files of a card for a new unit, from plain values: what cloud-init reads, and what it starts.

Of all that is here only the one-time code is a secret, and it is none any more once the unit has enrolled. cloud-init
does a card's things once and takes them for done when they have begun; but what stands under `bootcmd` it does at every
start. So that is all it is asked for beside users and name: to start a service, which a power cut may end at any moment
and a network that is not there yet may fail, and which goes on until the unit is ready. Then the folder is gone from
the card, and the service with it.

From cloud-init's documentation: modules "Bootcmd", "Users and Groups", "Set Hostname", "SSH"; data source "NoCloud". Of
Raspberry Pi OS: pi-gen's stage 04-cloud-init, which takes the boot partition as NoCloud's seed, and userconf-pi, whose
service asks at the screen for a first user, and has everything that comes after multi-user.target wait for the answer.
"""

import json
from typing import Any, Final

from provisioning.install.places import RELEASES_FOLDER
from provisioning.release.switching import CURRENT

CARD_FOLDER: Final = "boxman"
"""Beside cloud-init's files on the boot partition."""
BOOT_FOLDER: Final = "/boot/firmware"
"""Where that partition is on Debian 12 and Raspberry Pi OS."""
SERVICE: Final = "boxman-first-boot.service"
ENROLMENT_FILE: Final = "enrolment.toml"
CA_FILE: Final = "ca.pem"
PACKAGE_FILE: Final = "boxman.deb"
TECHNICIAN: Final = "technician"

SCRIPT: Final = "first-boot.sh"
_ASKS_FOR_A_USER: Final = "userconfig.service"
_HOST_NAME_MAX: Final = 63
_HERE: Final = f"{BOOT_FOLDER}/{CARD_FOLDER}"
# Nothing is waited for: the rest of the start waits for cloud-init.
_BOOT_COMMAND: Final = (
    f"systemctl mask --now --no-block {_ASKS_FOR_A_USER}; "
    f"install -m 644 {_HERE}/{SERVICE} /run/systemd/system/ && systemctl daemon-reload && "
    f"systemctl start --no-block {SERVICE}"
)


def host_name(site: str, table: str) -> str:
    """The computer's name, made of the table's."""
    letters = f"{site}-{table}".lower().replace("_", "-").strip("-")
    return letters[:_HOST_NAME_MAX].rstrip("-") or "boxman"


def user_data(site: str, table: str, ssh_key: str | None) -> str:
    """cloud-init's user-data. JSON is YAML. With a public `ssh_key` somebody may come in with it, otherwise nobody."""
    technician = {
        "name": TECHNICIAN,
        "gecos": "Technician",
        "shell": "/bin/bash",
        "sudo": "ALL=(ALL) NOPASSWD:ALL",
        "lock_passwd": True,
        "ssh_authorized_keys": [ssh_key],
    }
    said: dict[str, Any] = {
        "hostname": host_name(site, table),
        "preserve_hostname": False,
        "manage_etc_hosts": True,
        # Without "default", the image's own user is not made.
        "users": [] if ssh_key is None else [technician],
        "disable_root": True,
        "ssh_pwauth": False,
        "bootcmd": [["sh", "-c", f"test ! -e {_HERE}/{SCRIPT} || {{ {_BOOT_COMMAND}; }}"]],
    }
    return f"#cloud-config\n{json.dumps(said, indent=2)}\n"


def meta_data(site: str, table: str, code_hash: str) -> str:
    """cloud-init's meta-data. The name of the instance is each card's own, so that a new card is a new instance."""
    name = host_name(site, table)
    # All of it is on the card, so a network that is not there yet is not waited for.
    said = {"instance-id": f"{name}-{code_hash[:12]}", "local-hostname": name, "dsmode": "local"}
    return f"{json.dumps(said, indent=2)}\n"


def enrolment_file(address: str, site: str, table: str, code: str) -> str:
    """What the unit enrols with (`enrol_command`); none of the values needs more quoting than JSON's."""
    said = {"address": address, "site": site, "table": table, "code": code, "ca": CA_FILE}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())


def service() -> str:
    """The unit of the service; it lies in memory, so nothing of it is left at the end."""
    return f"""\
[Unit]
Description=Making this computer a table's terminal
Wants=network-online.target
After=network-online.target cloud-final.service time-sync.target
# Whoever waits for a network does not give up.
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/bin/sh {_HERE}/{SCRIPT}
StandardOutput=journal+console
StandardError=journal+console
Restart=on-failure
RestartSec=30
"""


def script(ssh: bool) -> str:
    """What the service runs. Each step does nothing where it is done already."""
    ssh_step = (
        "systemctl enable --now ssh.service"
        if ssh
        else "systemctl disable --now ssh.service ssh.socket 2>/dev/null || true"
    )
    return f"""\
#!/bin/sh
# Made by "boxman provision card". Each step may be cut off, and does nothing where it is done already.
set -eu
card={_HERE}
if [ ! -e "$card/installed" ]; then
    {ssh_step}
    dpkg --configure -a
    if [ ! -e {RELEASES_FOLDER}/{CURRENT} ]; then
        export DEBIAN_FRONTEND=noninteractive
        # What shows the console comes from the network, if that leads to Debian's packages; the rest does without.
        apt-get update && apt-get install --yes "$card/{PACKAGE_FILE}" \\
            || apt-get install --yes --no-install-recommends "$card/{PACKAGE_FILE}"
    fi
    boxman provision enrol --from "$card/{ENROLMENT_FILE}" --config /etc/boxman/table.toml --data /var/lib/boxman
    boxman provision install
    # The boot files are in force after a start.
    sync
    touch "$card/installed"
    sync
    systemctl reboot
    exit 0
fi
systemctl start boxman.service
boxman provision ready
touch /etc/cloud/cloud-init.disabled
sync
rm -r "$card"
sync
"""
