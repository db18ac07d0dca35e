"""`boxman node`: put the firmware on an I/O node, and ask one how it does."""

import argparse
import signal
from pathlib import Path
from types import FrameType

from drivers.node_codec import PROTOCOL
from drivers.node_port import USB, NodePortBusy, NodePortMissing, usb_devices
from provisioning.command_failed import CommandFailed
from provisioning.configuration import NODE_PORT_FORM, Configuration, ConfigurationError, read_configuration
from provisioning.node_inquiry import NodeInquiry
from provisioning.node_install import ANSWER_SECONDS, configuration_name, install, node_configuration
from provisioning.progress import ProgressBar
from provisioning.standard_streams import visible


def install_node(port: str | None, configuration_path: Path | None) -> int:
    """Install firmware and configuration on a Pico. Raises CommandFailed."""
    configuration = _read(configuration_path)
    wiring = configuration.wiring
    port = _port(port, configuration)
    bar = ProgressBar(f"installing on {visible(port)}")
    told_to_end = signal.signal(signal.SIGTERM, _end)
    try:
        installed = install(port, node_configuration(wiring), bar)
    finally:
        bar.close()
        signal.signal(signal.SIGTERM, told_to_end)
    inputs, lamps = len(wiring.inputs("node")), len(wiring.lamps("node"))
    print(
        f"The node at {visible(installed.device)} runs firmware {installed.identity.firmware} with configuration "
        f"{configuration_name(installed.identity.configuration)} (inputs: {inputs}, lamps: {lamps})."
    )
    return 0


def _end(_number: int, _frame: FrameType | None) -> None:
    # So that the files and the mpremote that copies them go as well.
    raise SystemExit(128 + signal.SIGTERM)


def show_node(port: str | None, configuration_path: Path | None) -> int:
    """Print who the node is and how it does. Raises CommandFailed."""
    port = _port(port, _read(configuration_path))
    try:
        with NodeInquiry(port) as inquiry:
            identity = inquiry.identity(ANSWER_SECONDS)
            if identity is None:
                raise CommandFailed(f"nothing at {port} answers as an I/O node; boxman node install puts one there")
            if identity.protocol != PROTOCOL:
                raise CommandFailed(
                    f"the firmware {identity.firmware} of the node at {port} speaks protocol {identity.protocol}, "
                    f"not {PROTOCOL}; install it again"
                )
            condition = inquiry.condition(ANSWER_SECONDS)
    except (NodePortBusy, NodePortMissing) as error:
        raise CommandFailed(str(error)) from error
    rows = [
        ("firmware", identity.firmware),
        ("configuration", configuration_name(identity.configuration)),
        ("boot", f"{identity.boot_id:08x}"),
    ]
    if condition is not None:
        rows += [
            ("running for", f"{condition.running_ms // 1000} s"),
            ("reports waiting", str(condition.waiting)),
            ("changes dropped", str(condition.dropped)),
            ("frames lost", str(condition.lost_frames)),
        ]
    for name, value in rows:
        print(f"{name:<17}{value}")
    return 0


def add_node_command(node: argparse.ArgumentParser) -> None:
    """Give the command `boxman node` its actions."""
    actions = node.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("install", help="put firmware and configuration on a Raspberry Pi Pico")
    _add_arguments(action)
    action.set_defaults(start=lambda chosen: install_node(chosen.port, chosen.config))
    action = actions.add_parser("status", help="ask an I/O node who it is and how it does")
    _add_arguments(action)
    action.set_defaults(start=lambda chosen: show_node(chosen.port, chosen.config))


def _add_arguments(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--port", metavar="PORT", help="/dev/ttyACM0, or usb: and a USB serial number (default: the table's)"
    )
    action.add_argument("--config", type=Path, metavar="FILE", help="the table's configuration (TOML)")


def _read(path: Path | None) -> Configuration:
    if path is None:
        return Configuration()
    try:
        return read_configuration(path)
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error


def _port(given: str | None, configuration: Configuration) -> str:
    port = configuration.node if given is None else given
    if port in ("", USB):
        raise CommandFailed(f"--port must be {NODE_PORT_FORM}")
    if port is None:
        plugged = ", ".join(f"usb:{number} ({device})" for device, number in sorted(usb_devices())) or "nothing"
        raise CommandFailed(f"say which port with --port or as hardware.node; plugged in by USB: {plugged}")
    return port
