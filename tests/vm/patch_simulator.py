"""Makes the kernel's gpio-sim and irq_sim fit for a module: `patch_simulator.py SOURCE BUILD`, two folders.

- irq_sim: `irq_to_desc` is not exported to modules; `irq_resolve_mapping` gives the same descriptor. Searching from
  the first pending bit each time also closes a race: upstream passes over one that is set behind where it has come to.
- gpio-sim: a chip that goes while programs have its lines frees interrupts that are in use, after which the kernel
  falls over sooner or later. Here the few that a chip has stay.
"""

import sys
from pathlib import Path

_INCLUDE = "#include <linux/irq.h>\n"
_NUMBER = "\tint irqnum;\n"
_REST = "\n\twork_ctx = container_of"
_LOOP_START = "\t\toffset = find_next_bit("
_LOOP_END = "\t\thandle_simple_irq(irq_to_desc(irqnum));\n"
_LOOP = (
    "\t\toffset = find_first_bit(work_ctx->pending, work_ctx->irq_count);\n"
    "\t\tclear_bit(offset, work_ctx->pending);\n"
    "\t\tdesc = irq_resolve_mapping(work_ctx->domain, offset);\n"
    "\t\tif (desc)\n"
    "\t\t\thandle_simple_irq(desc);\n"
)
_DOMAIN = "devm_irq_domain_create_sim(dev, swnode, num_lines)"
_DISPOSAL = "devm_add_action_or_reset(dev, gpio_sim_dispose_mappings, chip)"
_DISPOSAL_FUNCTION = "static void gpio_sim_dispose_mappings("


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        sys.exit(f"the kernel's source is not as expected: {old!r} is in it {text.count(old)} times")
    return text.replace(old, new)


def _irq_sim(text: str) -> str:
    text = _replaced(text, _INCLUDE, _INCLUDE + "#include <linux/irqdesc.h>\n#include <linux/irqdomain.h>\n")
    text = _replaced(text, _NUMBER + _REST, "\tstruct irq_desc *desc;\n" + _REST)
    loop = text[text.index(_LOOP_START) : text.index(_LOOP_END) + len(_LOOP_END)]
    return _replaced(text, loop, _LOOP)


def _gpio_sim(text: str) -> str:
    text = _replaced(text, _DOMAIN, "irq_domain_create_sim(NULL, num_lines)")
    text = _replaced(text, _DISPOSAL, "0")
    return _replaced(text, _DISPOSAL_FUNCTION, "static void __maybe_unused gpio_sim_dispose_mappings(")


def main() -> None:
    """Patch both files, or end with a message when the kernel's own have changed."""
    source, build = map(Path, sys.argv[1:])
    (build / "irq_sim.c").write_text(_irq_sim((source / "kernel/irq/irq_sim.c").read_text()))
    (build / "gpio-sim-core.c").write_text(_gpio_sim((source / "drivers/gpio/gpio-sim.c").read_text()))


main()
