"""The dice log: every set, every die and where it is, every opening of the reserve and its reason.

Pure: no I/O, no clock. `decide` says which journal event follows from an action of the console (see `dice_actions`)
and changes nothing; `take` applies an event, live and in a replay alike, and nothing else changes the state. One
action is one event, so that nothing can be half recorded.

The journal events
==================
In every event of this page:

  action        the action it follows from: swap, change, offer ... (`dice_actions`)
  rules         the rules it was judged by: "es-1979"
  session       number of the table's session; of what is done for the next one while the table is closed (dice_duty,
                dice_set_placed, dice offered, an opening count) the number of that one
  shooter, roll_number, rolls_in_series, point, phase      the game then; phase is "come_out" or "point"
  done_by, seen_by   two different names
  note          free text; only where one was given
  asked         the action as it was asked for; with via and command, what the session adds to an entry of the console
  against_rule  [{"rule", "article", "text"}], one for each rule it breaks; only where it breaks one. The article is
                "house" where the regulation is silent. With `detail` where the text names more: of what it names
                set, dice, others (sets), number (of dice) and asked ("6", "4 to 5"), session, reason and point of a
                change (`fell` false: by the log no die left the table), edge_hundredths_mm and its minimum_ and
                maximum_, before (what was wrong with a die). No `dice` with an edge: all of the set.

In every event about dice:

  set           name of the set
  moves         [{"set", "die", "from", "to"}], one for each die that changes its place. `die` is its serial number, or
                "1", "2" ... where the dice of the set carry none. Places: store, reserve, play, offered, floor,
                inspection, missing, written_off, withdrawn, cancelled, destroyed.
  opening       seq of the reserve_opened event it belongs to, null where there is none. While the lid is open, every
                deed that moves dice in or out of the reserve, or counts a set at the table, belongs to that opening;
                once it is shut, those until it has a reason, and those of the same reason: in both cases until the
                next roll, or until the table is opened for another session.
  through       only where the opening stands for others, beyond the hundred that can wait at once: seq of the last of
                them; what explains the opening explains them all
  reason        why, one of REASONS; it explains that opening too
  instead_of    only of a deed that moves dice in or out of the reserve while its lid is open, for another reason than
                an explanation or a count gave before: that reason. From here on the deed's is the opening's.
  lid           "unseen": only where the reserve has a lid, and nobody could see how it was (its switch cannot be read,
                the I/O node is away): then no deed is held against the boxman as lid_shut

What breaks a rule of the house, with the article "house":

  lid_shut      dice left or entered the reserve, the lid was shut, and the deed belongs to no opening
  no_opening    the same of a correction: of what only the log says, no opening accounts for it
  correction    a correction puts a die where the last count of its set did not see it, or brings a lost one back
  final         a die that was withdrawn or cancelled is spoken of as missing, found, or elsewhere
  destroyed     a set is received with the serial number of a die of the same maker that was destroyed

A change of dice is judged whichever action brings it about: also a correction, an inspection, a die found or a removal
that takes dice into or out of play. The reason die_off_table allows one amid a series only where, by the log, a die of
the set has been off the table since that series, or a throw of it went off the table. A die that is called sound after
it was found unsound is marked ("sound"), and so is an explanation by a change that the rules forbade when the reserve
was opened ("change"). A set has served in a session when a roll was thrown with dice of it in play, and the session
before is the last with such a roll: a table that was opened and closed without one lets no set serve again ("reuse";
Spain II.1 asks for dice other than those used in the session before). What a micrometer showed outside the bounds of
the rules is against them ("edge"), whatever the inspection called it.

dice_duty            boxman, witness: who is at the table; their names stand in the events that follow in this session,
                     where no other is given. (Without `set` and what goes with it; done_by and seen_by are these two.)
dice_set_received    dice ["004711", ...], numbered_by "serial" | "set", maker, colour, house_mark | null,
                     edge_hundredths_mm | null. The dice are in the store. (No moves, opening, reason.)
dice_set_inspected   dice [the dice looked at], unsound {die: what is wrong}, sound [dice], checks {name: true | false},
                     not_checked [names], instruments {"micrometer": {"sound": bool, "showed": text}, ...},
                     edges_hundredths_mm {die: n}, moves (empty, or where the dice went: reserve, play, withdrawn).
                     Refused: one that looked at nothing, or calls a die unsound and the check "sound" good.
dice_set_placed      the set is brought to the table: moves store -> reserve
dice_moved           action is one of
                       swap        out [dice], in [dice], asked_by | null, asked_by_name | null
                       change      offered [dice], taken [dice], asked_by | null, asked_by_name | null: dice were put
                                   before the shooter, who took two; the others went back to the reserve in sight of all
                       offer       offered [dice], asked_by | null, asked_by_name | null: they lie before the shooter
                       off_table   a die left the table outside a throw: moves -> floor
                       found       moves floor, missing or written_off -> inspection (or where it was put instead)
                       missing     moves -> missing: looked for and not found; reason die_off_table where it lay on
                                   the floor by the log, otherwise count
                       correction  the log is put right after a count; `count` is the count's seq, or null. It is
                                   judged as the deed that would have brought the dice there.
dice_counted         count "opening" | "closing" | "check", seen {place: [dice]}, expected {place: [dice]},
                     difference [{"die", "log": place | null, "seen": place | null}]; log null: no die of this set;
                     seen null: not there. A closing count expects dice on the floor and under inspection too. A set
                     that is not at the table explains no opening by its count. moves is empty: a count moves nothing.
                     An opening count that sees two dice in play is held against the number of dice that the rules ask
                     for in the reserve.
dice_set_moved       to "store" | "withdrawn" | "cancelled" | "destroyed" | "written_off", moves. Written off are lost
                     dice, from the floor or missing, by done_by, a supervisor who is not on duty: nobody has them, so
                     they can be neither cancelled nor destroyed (earlier versions let them). They stay lost, and what
                     the rules ask for when a die is lost is still asked for.
void_dice            a void throw and its dice: no_roll (seq of the no_roll event), no_roll_reason ("in_dice_cup" ...),
                     dice [dice], moves: off_table play -> floor, broken play -> inspection, otherwise none;
                     reason die_off_table (also for in_dice_cup, with the opening), damage, or null
reserve_explained    opening, reason, explained_as "boxman" | "supervisor", done_by, late (true: the alert had been
                     raised, and only a supervisor ends it); with `through`, further: how many others it stands for.
                     A supervisor is none of those on duty now, last, or at the opening. The reason count needs a count
                     of a set at the table that belongs to this opening or came after its closing. Given while the
                     lid is open, it holds as long as nothing contradicts it: see instead_of, and reserve_settled.
                     What the boxman says too late is not judged; the supervisor's word is.
                     (No set, moves, seen_by.)
reserve_settled      the lid is shut, and long enough for the slots to have settled (only where slots are wired): closed
                     (seq of the closing), occupied [places], surplus (how many more dice the slots hold than the log
                     has in the reserve), asked_anew: the opening whose reason, given before the lid was shut, is void,
                     because the surplus is another than it was when the slots had settled before, and not 0; or null.
                     With `unread` (the node of the slots is away) it says only closed; it is told again when the slots
                     are seen, and what has changed until then belongs to the opening.
                     (None of the facts of every event.)

The lid and the slots
=====================
`take` also wants these, in their order: reserve_opened, reserve_closed, slots, table_opened, table_closed,
no_more_bets, no_roll and roll (in which sessions dice were in play, and whether the lid was shut), alert_raised
(reserve_unexplained:<seq>, slots_changed_shut:<seq>, no_opening_count:<session>) and alert_acknowledged, started and
recording_resumed (which an opening, a throw off the table of which no die is named, a closing without its count, and
slots that disagree with the log may outlive once before their alerts come at once).

reserve_opened       table_open: whether the table is open. An opening while it is closed is explained by what was
                     brought or taken while the lid was open or before the table was opened, or by somebody who says
                     so; by no count. Once the table is open again, only a supervisor explains it.
table_closed         uncounted [sets at the table without a closing count in this session], reserve_open: true; each
                     only where it is so
no_roll              sets [those at the table], only where there are
slots                occupied [places], initial (told at a start), lid: "open"; "shut"; "settling": shut, and no
                     reserve_settled since; "unseen". unread [places], only where the sensors of some cannot be read:
                     those count as they were.

Slots do not change under a shut lid. A change belongs to an opening while the lid is open, until reserve_settled after
its closing, and within the last second before it (`reserve_conditions.SETTLED_MS`), because lid and slots each take
their time to settle and may tell in either order. Any other change is an alert, slots_changed_shut:<seq of the slots
event>, which only an acknowledgement ends, however short it was: also a change that is seen at a start, against what
was seen before the stop, and one that happens while the lid is not seen, once the lid is seen again and is shut. Is the
lid seen open then, the change belongs to that opening. While the alert stands, further changes are added to it.

What is kept
============
At most SETS_MAX sets of which not all dice are destroyed (`set_decisions`); of DESTROYED_MAX others (`dice_state`) the
name, which no other set may have, the maker and the serial numbers.

Alerts
======
What an event raises is in `event_alerts`, what is wrong for as long as it is so in `reserve_conditions`, and who may
acknowledge which in `device.alert_book`. The detail of each holds all that its text says.

  against_rule:<seq>         event, rules, against_rule as above. Also of the first roll of a session with a set that
                             may not serve again; the roll itself does not say so
  count_differs:<seq>        event, set, count, difference as above
  no_opening_count:<session>, no_closing_count:<session>                   session, sets. A closing count is in time
                             until closing_count_ms after the closing, and before the table is opened again
  slots_changed_shut:<seq>   event and last (the first and the last slots event), changes (how many), before and after
                             [places], initial (one of them was told at a start)
  reserve_unexplained:<seq>  opening, closed, roll_number, shooter, further (more openings that it stands for)
  reserve_left_open          opening, open_max_ms
  reserve_open_during_roll:<seq>, reserve_open_while_closed:<seq>          opening. Latched: shutting the lid, or saying
                             why, does not end it. (Earlier versions: without the seq, and over when the lid was shut.)
  dice_not_named:<seq>       event, a void throw off the table: which die it was is not recorded. It ends when it is, or
                             when another person takes note of it
  dice_written_off:<seq>     event, set, dice, by
  slots_disagree             occupied, log [dice in the reserve by the log], sets [the set of each]
  dice_in_play               dice [[set, die]]: those that are in play by the log
  dice_missing:<set>         set, dice
  set_to_replace:<set>       set, dice, article; with at_hand and asked where too few are left
  set_served_before:<set>    set, session (the last before this one in which it served), article

Texts give an article without what explains it; the whole of it is in the detail.
"""

from collections.abc import Callable, Mapping
from typing import Any

from device.dice_control import die_decisions, set_decisions
from device.dice_control import rule_judgement as judge
from device.dice_control.action_facts import check_supervisor, game_facts, on_duty
from device.dice_control.dice_context import Context
from device.dice_control.dice_rules import CHANGE_REASONS
from device.dice_control.dice_state import DiceState
from device.dice_control.dice_view import dice_view
from device.dice_control.names import same_name
from device.dice_control.set_decisions import against
from device.plain_values import plain
from engine_lite.refusal import Refused

Entry = tuple[str, dict[str, Any]]

EVENTS = (
    "dice_duty",
    "dice_set_received",
    "dice_set_inspected",
    "dice_set_placed",
    "dice_moved",
    "dice_counted",
    "dice_set_moved",
    "void_dice",
    "reserve_explained",
)

# All that `take` wants, in their order.
HEARD = (
    *EVENTS,
    "started",
    "recording_resumed",
    "reserve_opened",
    "reserve_closed",
    "reserve_settled",
    "slots",
    "table_opened",
    "table_closed",
    "no_more_bets",
    "no_roll",
    "roll",
    "alert_raised",
    "alert_acknowledged",
)


class DiceLog:
    """One table's dice log. Read `state` freely; change it only by `take`."""

    def __init__(self, state: DiceState | None = None) -> None:
        """An empty log, or one that goes on from a state that was kept."""
        self.state = state if state is not None else DiceState()

    def decide(self, action: dict[str, Any], context: Context) -> list[Entry]:
        """The event that follows from an action of the right shape (`dice_actions.parse_action`); nothing changes.

        Raises Refused for what cannot be. What a rule forbids is not refused: the event says `against_rule`.
        """
        ((name, parts),) = action.items()
        return [_DECISIONS[name](self.state, parts, context)]

    def take(self, kind: str, data: Mapping[str, Any], seq: int) -> None:
        """Apply an event. ValueError or KeyError: it does not follow from those before it."""
        self.state.take(kind, data, seq)

    def view(self, context: Context) -> dict[str, Any]:
        """The log for a screen (`dice_view`)."""
        return dice_view(self.state, context)

    def snapshot(self) -> dict[str, Any]:
        """The whole state as plain values: equal after a replay of the events."""
        said: dict[str, Any] = plain(self.state)
        return said


def _on_duty(_state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    boxman, witness = parts["boxman"], parts["witness"]
    if same_name(boxman, witness):
        raise Refused("same_name", f"{boxman} cannot be boxman and witness at once; name another person as witness")
    said = {"boxman": boxman, "witness": witness, "done_by": boxman, "seen_by": witness}
    return "dice_duty", game_facts("on_duty", parts, context) | said


def _explain(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    asked = parts.get("opening")
    waiting = [opening for opening in state.openings if opening.waits and asked in (None, opening.seq)]
    if not waiting:
        said = "no opening of the reserve" if asked is None else f"the opening of event {asked}"
        waits = "waits for a reason" if asked is None else "does not wait for a reason"
        raise Refused("no_opening", f"{said} {waits}")
    opening, reason = waiting[-1], parts["reason"]
    done_by = parts.get("done_by") or on_duty(state, context, "boxman")
    if done_by is None:
        raise Refused("needs_name", "nobody is on duty in this session; say who is, or name done_by")
    if parts["as"] == "supervisor":
        check_supervisor(state, context, done_by, "explain this opening")
        if any(same_name(done_by, other) for other in opening.duty):
            raise Refused("same_name", f"{done_by} was on duty at this opening; a supervisor must explain it")
    if reason == "count" and not state.counted_for(opening):
        raise Refused(
            "not_counted", f"no set at the table was counted since event {opening.seq}; record the count first"
        )
    data = game_facts("explain", parts, context)
    data |= {
        "opening": opening.seq,
        "reason": reason,
        "explained_as": parts["as"],
        "late": opening.late,
        "done_by": done_by,
    }
    if opening.through is not None:
        data |= {"through": opening.through, "further": opening.further}
    broken: list[judge.Broken] = []
    # What the boxman says too late does not end the matter; the supervisor's word is judged.
    if reason in CHANGE_REASONS and not (opening.late and parts["as"] == "boxman"):
        # As it was when the reserve was opened.
        point = opening.point if context.table_open else None
        fallen = any(die.fell_in for _, dice_set in state.sets_at_table() for die in dice_set.dice.values())
        fallen |= opening.off_table
        broken += judge.change_forbidden(context.rules, reason, point, fell=fallen)
    return "reserve_explained", against(data, broken)


_DECISIONS: dict[str, Callable[[DiceState, Mapping[str, Any], Context], Entry]] = {
    "on_duty": _on_duty,
    "receive": set_decisions.receive,
    "inspect": set_decisions.inspect,
    "place": set_decisions.place,
    "offer": die_decisions.offer,
    "change": die_decisions.change,
    "swap": die_decisions.swap,
    "off_table": die_decisions.off_table,
    "void_throw": die_decisions.void_throw,
    "found": die_decisions.found,
    "missing": die_decisions.missing,
    "correction": die_decisions.correction,
    "count": set_decisions.count,
    "remove": set_decisions.remove,
    "explain": _explain,
}
