"""The people at the simulated table: bets, throws, buttons, dice and the lid, from chance, mostly as they should be.

They go on whatever the machine does. What is entered on the screen waits for the screen; what is keyed does not.
"""

import asyncio
from contextlib import suppress
from random import Random
from typing import Any, Final

from device.recorder import DISK_FULL, Busy, Halted, IdReused
from device.table_terms import TableTerms
from drivers.dice_keys_decoder import SAME_THROW_MS
from drivers.signals import BOXES
from drivers.wiring import BUTTONS
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import NUMBERS, RuleSet
from tests.simulator.dice_deeds import MORNING, some_action
from tests.simulator.hands import ABANDONED_S, right_place
from tests.simulator.ledger import Asked, Violation
from tests.simulator.machine import Machine
from tests.simulator.supervisor import SUPERVISOR, some_decision

PLAYERS: Final = ("1", "2", "5", "11")
NO_ROLLS: Final = ("off_table", "in_dice_cup", "broken", "on_chips")
DONE_AGAIN_MAX: Final = 3
# Within this time of a first die that was entered on the screen, the next is taken for its second; and so long it
# takes, at most, to key one.
SAME_THROW_S: Final = SAME_THROW_MS / 1000
SECOND_DIE_TAKES_S: Final = 1.0


class Dealer:
    """All who act at the table, one deed after the other."""

    def __init__(self, machine: Machine, random: Random, terms: list[TableTerms]) -> None:
        self._machine = machine
        self._random = random
        self._terms = terms
        self._ids = 0
        self._offered: dict[str, list[tuple[str, int | None]]] = {}
        self._morning = list(MORNING) if random.random() < 0.8 else []
        # Asked, and not answered: the machine went, or the answer did not come.
        self._unanswered: list[str] = []
        self.deeds = 0
        self.is_leaving = False

    async def play(self) -> None:
        """Go on until `is_leaving`; then the deed at hand is finished."""
        while not self.is_leaving:
            await asyncio.sleep(self._pause_s())
            self.deeds += 1
            await self._deed()

    def _pause_s(self) -> float:
        random = self._random
        return random.choice((0.0, random.uniform(0, 0.3), random.uniform(0.2, 1.5), random.expovariate(0.5)))

    async def _deed(self) -> None:
        random, session = self._random, self._machine.ledger.session
        if self._unanswered and self._machine.terminal is not None and random.random() < 0.5:
            await self._ask_again(self._unanswered.pop(0))
            return
        if self._morning and random.random() < 0.5:
            await self.ask("dice_action", self._morning.pop(0))
            return
        if session.table is not None and not session.is_open and random.random() < 0.7:
            await self.ask("open_table", random.choice(self._terms))
            return
        deeds, weights = zip(*self._deeds().items(), strict=True)
        await random.choices(deeds, weights)[0]()

    def _deeds(self) -> dict[Any, int]:
        return {
            self._bet: 30,
            self._throw: 25,
            self._correct: 4,
            self._no_roll: 4,
            self._change_bet: 6,
            self._shooter: 4,
            self._no_more_bets: 5,
            self._dice: 14,
            self._lid: 5,
            self._slot: 4,
            self._puck: 4,
            self._button: 6,
            self._hold: 2,
            self._one_die: 3,
            self._two_pages: 5,
            self._close: 3,
            self._acknowledge: 3,
            self._take_back: 2,
            self._supervise: 4,
        }

    # Commands

    async def ask(self, method: str, *arguments: Any) -> bool:
        """Give a command under an id of its own, now and then twice; whether it was answered as done."""
        if self._machine.terminal is None:
            return False
        self._ids += 1
        command = f"c{self._ids}"
        self._machine.ledger.commands[command] = Asked(method, arguments)
        return await self._ask_again(command)

    async def _ask_again(self, command: str) -> bool:
        random = self._random
        twice = random.random()
        if twice < 0.05:
            # Two at once, as a page does that lost its connection.
            done = await asyncio.gather(self._ask(command), self._ask(command))
            return any(done)
        is_done = await self._ask(command)
        if twice > 0.95:
            self._machine.struck["command sent again"] += 1
            await asyncio.sleep(random.uniform(0, 1))
            is_done = await self._ask(command) or is_done
        return is_done

    async def _ask(self, command: str) -> bool:
        machine = self._machine
        terminal, life = machine.terminal, machine.life
        if terminal is None or life is None:
            return False
        asked = machine.ledger.commands[command]
        if asked.outcome == "not done":
            asked.outcome = "unknown"
        halts = machine.halts
        answering = asyncio.ensure_future(getattr(terminal, asked.method)(*asked.arguments, command))
        ending = asyncio.ensure_future(life.over.wait())
        await asyncio.wait({answering, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if machine.disk.dead or not answering.done():
            answering.cancel()
            with suppress(asyncio.CancelledError, Refused, Halted, Busy):
                await answering
            machine.trace.note(f"{command} {asked.method} {self._words(asked)}: no answer")
            asked.unanswered = True
            self._unanswered = [*self._unanswered, command][-DONE_AGAIN_MAX:]
            return False
        is_done = self._answered(command, asked, answering)
        # What was on the disk when the screen said so may still be on its way to whoever asked.
        if is_done and machine.halts != halts and answering.result()["seq"] > machine.halted_seq:
            raise Violation(f"command {command} was done after the screen had said that nothing is accepted")
        return is_done

    def _answered(self, command: str, asked: Asked, answering: "asyncio.Future[dict[str, Any]]") -> bool:
        ledger, trace = self._machine.ledger, self._machine.trace
        try:
            answer = answering.result()
        except (Refused, Busy) as refused:
            trace.note(f"{command} {asked.method} {self._words(asked)}: refused, {refused}")
            ledger.not_done(command)
        except Halted as halted:
            trace.note(
                f"{command} {asked.method} {self._words(asked)}: {'full' if str(halted) == DISK_FULL else 'halted'}"
            )
            if str(halted) == DISK_FULL:
                # Of one that is sent again, that nothing is accepted now says nothing of the first time.
                if not asked.unanswered:
                    ledger.not_done(command)
            else:
                asked.unanswered = True
                self._unanswered = [*self._unanswered, command][-DONE_AGAIN_MAX:]
        except IdReused:
            raise Violation(f"command {command} was taken for another one") from None
        else:
            trace.note(f"{command} {asked.method} {self._words(asked)}: event {answer['seq']}")
            ledger.done(command, answer)
            return True
        return False

    def _words(self, asked: Asked) -> str:
        return "" if asked.method == "open_table" else str(asked.arguments)

    async def _step(self, step: dict[str, Any]) -> bool:
        return await self.ask("command", step)

    # Deeds

    async def _bet(self) -> None:
        random, table = self._random, self._machine.ledger.session.table
        if table is None:
            return
        player = random.choice(PLAYERS)
        kind, number = random.choice(self._bets_of(table.rules))
        if random.random() < 0.4:
            kind, number = random.choice((("pass_line", None), ("dont_pass", None), ("come", None)))
        amount = table.minimum * random.choice((1, 2, 6))
        lying = [bet for bet in table.bets() if bet["number"] and bet["kind"] in ("pass_line", "dont_pass")]
        if lying and random.random() < 0.2:
            bet = random.choice(lying)
            player, kind, number = (
                bet["player"],
                "pass_odds" if bet["kind"] == "pass_line" else "dont_pass_odds",
                bet["number"],
            )
        await self._step({"bet": {"player": player, "kind": kind, "amount": amount, "number": number}})

    def _bets_of(self, rules: RuleSet) -> list[tuple[str, int | None]]:
        if rules.name not in self._offered:
            offered = [
                (kind, number) for kind in rules.kinds for number in (None, *NUMBERS) if rules.rule(kind, number)
            ]
            self._offered[rules.name] = offered
        return self._offered[rules.name]

    async def _two_pages(self) -> None:
        """Two people at two screens, at once."""
        await asyncio.gather(
            self._bet(), self._random.choice((self._bet, self._shooter, self._take_back, self._dice))()
        )

    def _lying(self) -> dict[str, Any] | None:
        table = self._machine.ledger.session.table
        bets = table.bets() if table is not None else []
        return self._random.choice(bets) if bets else None

    async def _change_bet(self) -> None:
        bet = self._lying()
        if bet is None:
            return
        named = {name: bet[name] for name in ("player", "kind", "number")}
        step: dict[str, Any] = self._random.choice(
            (
                {"take_down": named},
                {"reduce": {**named, "amount": max(1, bet["amount"] // 2)}},
                {"working": {"on": self._random.random() < 0.5, "number": bet["number"]}},
            )
        )
        await self._step(step)

    def _throw_of_dice(self) -> tuple[int, int]:
        return self._random.randint(1, 6), self._random.randint(1, 6)

    async def _throw(self) -> None:
        random = self._random
        first, second = self._throw_of_dice()
        if random.random() < 0.5:
            await self._machine.hands.key_dice(first, second)
            self._machine.trace.note(f"keyed {first}-{second}")
        else:
            await self._step({"roll": [first, second]})
        if random.random() < 0.85:
            await self._move_puck()

    async def _move_puck(self) -> None:
        hands = self._machine.hands
        place = right_place(self._machine.ledger.session.point)
        if hands.puck == place:
            return
        hands.move_puck(None)
        await asyncio.sleep(self._random.uniform(0.05, 0.8))
        hands.move_puck(place)

    async def _puck(self) -> None:
        self._machine.hands.move_puck(self._random.choice((None, "off", *BOXES)))

    async def _correct(self) -> None:
        await self._step({"correct": list(self._throw_of_dice())})

    async def _no_roll(self) -> None:
        await self._step({"no_roll": self._random.choice(NO_ROLLS)})

    async def _shooter(self) -> None:
        await self._step({"shooter": self._random.choice(PLAYERS)})

    async def _no_more_bets(self) -> None:
        await self.ask("no_more_bets")

    async def _take_back(self) -> None:
        await self.ask("take_back", self._random.random() < 0.5)

    async def _supervise(self) -> None:
        found = some_decision(self._random, self._machine.ledger.session)
        if found is not None:
            asked, decision = found
            await self.ask("do", asked, SUPERVISOR, decision)

    async def _close(self) -> None:
        await self.ask("close_table")

    async def _acknowledge(self) -> None:
        alerts = list(self._machine.ledger.session.alerts.items())
        if alerts:
            name, alert = self._random.choice(alerts)
            await self.ask("acknowledge", name, alert["seq"], self._random.choice(("Eva", "Mar")))

    async def _dice(self) -> None:
        action = some_action(self._random, self._machine.ledger.session)
        if action is not None:
            await self.ask("dice_action", action)

    async def _lid(self) -> None:
        hands, random = self._machine.hands, self._random
        if hands.lid_open and random.random() < 0.4:
            # Shut and opened again, perhaps before anybody looks.
            hands.move_lid(False)
            await asyncio.sleep(random.uniform(0.1, 0.6))
            hands.move_lid(True)
            return
        hands.move_lid(not hands.lid_open)

    async def _slot(self) -> None:
        hands = self._machine.hands
        if hands.occupied:
            slot = self._random.randrange(len(hands.occupied))
            hands.move_die(slot, not hands.occupied[slot])

    async def _button(self) -> None:
        for name in self._random.choices(BUTTONS, k=self._random.choice((1, 2))):
            await self._machine.hands.press(name)

    async def _hold(self) -> None:
        await self._machine.hands.hold_key(self._random.choice((1, 2)))

    async def _one_die(self) -> None:
        random, hands, loop = self._random, self._machine.hands, self._machine.loop
        first, second = self._throw_of_dice()
        boot_id, began_s = hands.node_boot_id, loop.time()
        await hands.key_one_die(first)
        await asyncio.sleep(random.uniform(0, 2))
        terminal = self._machine.terminal
        # A roll on the screen uses up a die that the screen shows.
        is_shown = terminal is not None and terminal.state["pending_die"] is not None
        if not is_shown or not await self._step({"roll": [first, second]}):
            await asyncio.sleep(ABANDONED_S)
            return
        if random.random() < 0.7 and loop.time() < began_s + SAME_THROW_S - SECOND_DIE_TAKES_S:
            # The hand was on its way to the keys: this is the same throw still.
            await hands.key_one_die(second)
            if hands.node_boot_id != boot_id:
                await asyncio.sleep(ABANDONED_S)
            elif random.random() < 0.7:
                # The next one, while a die that was left over would still wait for its second.
                await asyncio.sleep(random.uniform(0.5, 4))
                await hands.key_dice(*self._throw_of_dice())
        else:
            # Nobody throws again so soon.
            await asyncio.sleep(max(0.0, began_s + SAME_THROW_S + SECOND_DIE_TAKES_S - loop.time()))


def terms_from(random: Random, names: tuple[str, ...], load: Any) -> list[TableTerms]:
    """Terms that a table may be opened under, from chance."""
    found = []
    for name in names:
        data = load(name)
        minimum = random.choice((1, 5, 10))
        bounds = compile_rules(data, {}).maximum_bounds(minimum)
        found.append(TableTerms(data, {}, 1, minimum, bounds[1] if bounds is not None else 1_000 * minimum))
    return found
