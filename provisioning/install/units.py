"""The systemd units of a table's computer: the terminal, and the screen that shows its console.

Both run without rights and without a way to get any, see a system that they cannot write, and reach only the devices
that are named. From systemd.exec(5), systemd.service(5) and systemd.resource-control(5) of Debian 12 (systemd 252).
"""

from pathlib import PurePosixPath

from device.screen_watch import SCREEN
from drivers.wiring import Wiring
from provisioning.configuration import Configuration
from provisioning.install.places import CONFIGURATION, DATA, KIOSK_USER, MARK, USER, WAITING_PAGE

# A table that stands still for longer is no table; a busy Pi is never silent for so long.
WATCHDOG_S = 30
_PRIVILEGED_PORTS_END = 1024

# What neither of the two needs.
_NO_RIGHTS = """\
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectProc=invisible
PrivateTmp=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
KeyringMode=private
LockPersonality=yes
SystemCallArchitectures=native
UMask=0077
LimitCORE=0
DevicePolicy=closed"""


def start_command(program: PurePosixPath) -> str:
    """How the service starts the terminal whose command is `program`."""
    return f"{program} run --config {CONFIGURATION} --data {DATA}"


def terminal_unit(program: PurePosixPath, configuration: Configuration) -> str:
    """The service of the terminal, whose command is `program`."""
    port_right = "CAP_NET_BIND_SERVICE" if configuration.port < _PRIVILEGED_PORTS_END else ""
    devices = "\n".join(f"DeviceAllow={device} rw" for device in _devices(configuration))
    return f"""\
# {MARK}
[Unit]
Description=The terminal of a craps table
RequiresMountsFor={DATA}
# However often it fails: a table that gives up needs somebody with a keyboard.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
ExecStart={start_command(program)}
User={USER}
Group={USER}
WorkingDirectory=/
StateDirectory={PurePosixPath(DATA).name}
StateDirectoryMode=0700
RuntimeDirectory=boxman
RuntimeDirectoryMode=0700
# Until it first says that it goes on, as it does through a long journal.
TimeoutStartSec=5min
TimeoutStopSec=30
WatchdogSec={WATCHDOG_S}
# One that hangs does not end in good order either; its journal stands a kill.
WatchdogSignal=SIGKILL
Restart=always
RestartSec=1
KillMode=mixed
OOMScoreAdjust=-800
TasksMax=256

{_NO_RIGHTS}
{devices}
CapabilityBoundingSet={port_right}
AmbientCapabilities={port_right}
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
MemoryDenyWriteExecute=yes
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# What it computes beside the table gives way to it.
SystemCallFilter=setpriority
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
"""


def _devices(configuration: Configuration) -> list[str]:
    devices = []
    if configuration.pins == "lgpio":
        devices.append("char-gpiochip")
    elif configuration.pins == "rpigpio":
        devices.append("/dev/gpiomem")
    if has_serial_node(configuration):
        devices += ["char-ttyACM", "char-ttyUSB"]
    return devices


def has_serial_node(configuration: Configuration) -> bool:
    """Whether the terminal opens a serial port."""
    return configuration.node is not None and bool(_on_node(configuration.wiring))


def _on_node(wiring: Wiring) -> bool:
    return any(pin.board == "node" for pin in wiring.pins.values())


def kiosk_unit(program: PurePosixPath, port: int, compositor: str, browser: str) -> str:
    """The service of the screen: a browser that fills it, with a profile that no start remembers.

    It is the first console's session, for which logind and polkitd let the compositor have display and touch.

    It is run by `program`, boxman's command, which ends it when the console at `port` is painted no more.
    """
    return f"""\
# {MARK}
[Unit]
Description=The screen of a craps table
Conflicts=getty@tty1.service
After=getty@tty1.service systemd-user-sessions.service systemd-logind.service
StartLimitIntervalSec=0

[Service]
# The session's own folder is out of sight like people's homes, and would go before what Environment= says.
ExecStart=/usr/bin/env XDG_RUNTIME_DIR=/run/{KIOSK_USER} {program} screen --port {port} -- \\
  {compositor} -d -- {browser} --kiosk --ozone-platform=wayland \\
  --user-data-dir=/run/{KIOSK_USER}/profile --no-first-run --noerrdialogs --disable-session-crashed-bubble \\
  --disable-pinch --password-store=basic --disable-component-update --disable-features=Translate \\
  file://{WAITING_PAGE}
User={KIOSK_USER}
PAMName=login
TTYPath=/dev/tty1
StandardInput=tty-fail
StandardOutput=journal
# Whoever opens a session leaves the unit's own group, and is no more found by the unit's name.
SyslogIdentifier={KIOSK_USER}
TTYReset=yes
TTYVHangup=yes
TTYVTDisallocate=yes
UtmpIdentifier=tty1
UtmpMode=user
WorkingDirectory=/
RuntimeDirectory={KIOSK_USER}
RuntimeDirectoryMode=0700
Environment=HOME=/run/{KIOSK_USER}
Restart=always
RestartSec=2
TasksMax=1024

{_NO_RIGHTS}
DeviceAllow=char-drm rw
DeviceAllow=char-input rw
DeviceAllow=char-tty rw
DeviceAllow=char-alsa rw
CapabilityBoundingSet=
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
# The browser shuts its own parts into name spaces.
SystemCallFilter=@system-service @sandbox chroot unshare
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
"""


def waiting_page(port: int) -> str:
    """What the screen shows until the console at `port` answers, and what takes it there; without words."""
    return f"""\
<!DOCTYPE html>
<!-- {MARK} -->
<meta charset="utf-8">
<title>boxman</title>
<style>
  body {{ background: #10151c; display: grid; place-items: center; height: 100vh; margin: 0; }}
  div {{ width: 6vmin; height: 6vmin; border-radius: 50%; background: #8fa3b8; animation: wait 1.6s infinite; }}
  @keyframes wait {{ 50% {{ opacity: 0.2; }} }}
</style>
<div></div>
<script>
  const console_page = "http://127.0.0.1:{port}/?screen={SCREEN}";
  const look = () => fetch(console_page, {{ mode: "no-cors" }}).then(() => location.replace(console_page), () => {{}});
  setInterval(look, 500);
</script>
"""
