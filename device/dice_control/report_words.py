"""The words of the dice reports in the languages of the tables: English, Spanish, Portuguese, Traditional Chinese.

Where a regulation has a term it stands here: "tirada nula", "cambio de dados" (Spain, Chile), "lançamento nulo",
"lançador" (Macau). What people wrote, and the texts of broken rules, stay as they are in the journal.
"""

from typing import Final

LANGUAGES: Final = {"en": "English", "es": "español", "pt": "português", "zh-Hant": "繁體中文"}
_ORDER: Final = tuple(LANGUAGES)
_OF_RULES: Final = {"es-1979": "es", "es-md-2004": "es", "cl-scj": "es", "pe-1999": "es", "mo-2010": "pt"}


def language_of(rules: str | None) -> str:
    """The language of a table under a rule set; English where none is known of it."""
    return _OF_RULES.get(rules or "", "en")


class Words:
    """The words of one of LANGUAGES."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._place = _ORDER.index(language)

    def __call__(self, key: str, **parts: object) -> str:
        """The word or phrase of a key, its parts put in. Raises KeyError for a key that there is none of."""
        return WORDS[key][self._place].format(**parts)

    def counted(self, key: str, number: int, **parts: object) -> str:
        """The phrase of a key with `number` in it: that of `key.one` where it is 1. Raises KeyError."""
        return self(f"{key}.one" if number == 1 else key, number=number, **parts)

    def of(self, group: str, name: str) -> str:
        """The word of `group.name`; the name itself where there is no word, such as for what a later version says."""
        said = WORDS.get(f"{group}.{name}")
        return name.replace("_", " ") if said is None else said[self._place]


# key: English, Spanish, Portuguese, Traditional Chinese
WORDS: Final[dict[str, tuple[str, str, str, str]]] = {
    # Titles
    "log": ("Dice log", "Registro de dados", "Registo dos dados", "骰子日誌"),
    "status": ("Dice: where they are", "Dados: dónde están", "Dados: onde estão", "骰子現況"),
    "report": (
        "Daily reconciliation of dice",
        "Conciliación diaria de los dados",
        "Conferência diária dos dados",
        "骰子每日核對報告",
    ),
    # Head of each report
    "table": ("Table", "Mesa", "Mesa", "賭枱"),
    "site": ("Site", "Casino", "Casino", "娛樂場"),
    "rules": ("Rule set", "Reglamento", "Regulamento", "規則"),
    "period": ("Period", "Periodo", "Período", "期間"),
    "whole_journal": ("the whole journal", "todo el diario", "todo o diário", "整份記錄"),
    "from_to": ("{start} to {end}", "de {start} a {end}", "de {start} a {end}", "{start} 至 {end}"),
    "from": ("from {start}", "desde {start}", "desde {start}", "由 {start} 起"),
    "until": ("until {end}", "hasta {end}", "até {end}", "至 {end}"),
    "gaming_day": ("Gaming day", "Día de juego", "Dia de jogo", "博彩日"),
    "journal_ends": (
        "Journal: last event {seq}, hash",
        "Diario: último evento {seq}, hash",
        "Diário: último evento {seq}, hash",
        "記錄：最後事件 {seq}，雜湊值",
    ),
    "times_are": ("Times are local", "Horas locales", "Horas locais", "時間為當地時間"),
    # Columns
    "time": ("Time", "Hora", "Hora", "時間"),
    "utc": ("Time (UTC)", "Hora (UTC)", "Hora (UTC)", "時間 (UTC)"),
    "clock": ("Clock", "Reloj", "Relógio", "時鐘"),
    "clock.synced": ("synced", "sincronizado", "sincronizado", "已同步"),
    "clock.free": ("not synced", "no sincronizado", "não sincronizado", "未同步"),
    "event": ("Event", "Evento", "Evento", "事件"),
    "session": ("Session", "Sesión", "Sessão", "場次"),
    "shooter": ("Shooter", "Tirador", "Lançador", "擲骰者"),
    "roll": ("Roll", "Tirada", "Lançamento", "擲次"),
    "phase": ("Phase", "Fase", "Fase", "階段"),
    "phase.come_out": ("come-out", "de salida", "primeiro lançamento", "首擲"),
    "phase.point": ("point", "punto", "ponto", "點數"),
    "point": ("Point", "Punto", "Ponto", "點數"),
    "what": ("What", "Hecho", "Facto", "事項"),
    "set": ("Set", "Juego", "Jogo", "骰組"),
    "dice": ("Dice", "Dados", "Dados", "骰子"),
    "reason": ("Reason", "Motivo", "Motivo", "原因"),
    "asked_by": ("Asked by", "A petición de", "A pedido de", "要求者"),
    "done_by": ("Done by", "Hecho por", "Feito por", "執行"),
    "seen_by": ("Seen by", "Visto por", "Visto por", "見證"),
    "against_rule": ("Against the rule", "Contra la norma", "Contra a regra", "違反規則"),
    "difference": ("Difference", "Diferencia", "Diferença", "差異"),
    "open_for": ("Open for", "Abierta durante", "Aberta durante", "開啟時間"),
    "open_s": ("Open (s)", "Abierta (s)", "Aberta (s)", "開啟 (秒)"),
    "belongs_to": ("Belongs to event", "Del evento", "Do evento", "所屬事件"),
    "note": ("Note", "Nota", "Nota", "備註"),
    "alert": ("Alert", "Alerta", "Alerta", "警報"),
    "section": ("Section", "Sección", "Secção", "部分"),
    "item": ("Item", "Concepto", "Rubrica", "項目"),
    "value": ("Value", "Valor", "Valor", "數值"),
    # Where dice are
    "place.store": ("in the store", "en el almacén", "no depósito", "倉存"),
    "place.reserve": ("in the reserve", "en la reserva", "na reserva", "備用"),
    "place.play": ("in play", "en juego", "em jogo", "使用中"),
    "place.offered": ("before the shooter", "ante el tirador", "perante o lançador", "供擲骰者選擇"),
    "place.floor": ("on the floor", "en el suelo", "no chão", "跌落地面"),
    "place.inspection": ("under inspection", "en inspección", "em verificação", "檢查中"),
    "place.missing": ("missing", "desaparecido", "desaparecido", "遺失"),
    "place.withdrawn": ("withdrawn", "retirado", "retirado", "已收回"),
    "place.cancelled": ("cancelled", "anulado", "anulado", "已註銷"),
    "place.destroyed": ("destroyed", "destruido", "destruído", "已銷毀"),
    # Why
    "reason.offered_to_shooter": (
        "offered to the shooter",
        "ofrecidos al tirador",
        "apresentados ao lançador",
        "供擲骰者選擇",
    ),
    "reason.shooter_request": ("shooter's request", "petición del tirador", "pedido do lançador", "擲骰者要求"),
    "reason.player_request": ("player's request", "petición de un jugador", "pedido de um jogador", "玩家要求"),
    "reason.inspector_request": ("inspector's request", "petición del inspector", "pedido do inspector", "督察要求"),
    "reason.boxman_order": ("boxman's order", "orden del boxman", "ordem do boxman", "枱面主管指示"),
    "reason.damage": ("damage", "daño", "dano", "損壞"),
    "reason.die_off_table": (
        "die off the table",
        "dado fuera de la mesa",
        "dado fora da mesa",
        "骰子跌出枱外",
    ),
    "reason.new_set": ("new set", "juego nuevo", "jogo novo", "新骰組"),
    "reason.count": ("count", "recuento", "contagem", "點算"),
    "reason.closing": ("closing", "cierre", "encerramento", "收枱"),
    # Why a throw was void
    "no_roll.off_table": ("off the table", "fuera de la mesa", "fora da mesa", "跌出枱外"),
    "no_roll.stacked": ("one die on the other", "superpuestos", "sobrepostos", "骰子疊起"),
    "no_roll.on_chips": ("on chips", "sobre fichas", "sobre fichas", "落在籌碼上"),
    "no_roll.on_rail": ("on the rail", "encima del borde", "sobre o rebordo", "落在枱邊"),
    "no_roll.in_dice_cup": (
        "in the reserve",
        "en el cesto de los dados de reserva",
        "no recipiente de reserva",
        "落入備用骰盒",
    ),
    "no_roll.broken": ("broken", "rotos", "partidos", "骰子破裂"),
    "no_roll.slid": ("not rolling", "sin rodar", "sem rolamento", "沒有滾動"),
    "no_roll.short": ("too short", "corta", "curto", "距離不足"),
    "no_roll.leaning": ("leaning", "apoyados", "inclinados", "骰子傾斜"),
    "no_roll.not_together": ("not together", "no a la vez", "não ao mesmo tempo", "沒有同時擲出"),
    "no_roll.called": ("called", "anunciada", "anunciado", "宣布無效"),
    # Who
    "asker.shooter": ("shooter", "tirador", "lançador", "擲骰者"),
    "asker.player": ("player", "jugador", "jogador", "玩家"),
    "asker.inspector": ("inspector", "inspector", "inspector", "督察"),
    "asker.supervisor": ("supervisor", "jefe de mesa", "supervisor", "主管"),
    "asker.boxman": ("boxman", "boxman", "boxman", "枱面主管"),
    # What was done
    "what.received": ("Set received", "Juego recibido", "Jogo recebido", "收到骰組"),
    "what.inspected": ("Dice inspected", "Dados inspeccionados", "Dados verificados", "骰子檢查"),
    "what.placed": ("Set brought to the table", "Juego llevado a la mesa", "Jogo trazido à mesa", "骰組送到賭枱"),
    "what.swap": ("Dice swapped", "Sustitución de dados", "Substituição de dados", "更換骰子"),
    "what.change": ("Dice change", "Cambio de dados", "Mudança de dados", "換骰"),
    "what.offer": ("Dice offered", "Dados ofrecidos", "Dados apresentados", "提供骰子選擇"),
    "what.off_table": ("Die left the table", "Dado fuera de la mesa", "Dado saído da mesa", "骰子離開枱面"),
    "what.found": ("Die found", "Dado encontrado", "Dado encontrado", "尋回骰子"),
    "what.missing": ("Die missing", "Dado desaparecido", "Dado desaparecido", "骰子遺失"),
    "what.correction": ("Log put right", "Registro rectificado", "Registo rectificado", "更正日誌"),
    "what.count_opening": ("Opening count", "Recuento de apertura", "Contagem de abertura", "開枱點算"),
    "what.count_closing": ("Closing count", "Recuento de cierre", "Contagem de encerramento", "收枱點算"),
    "what.count_check": ("Check count", "Recuento de control", "Contagem de controlo", "抽查點算"),
    "what.to_store": ("Returned to the store", "Devuelto al almacén", "Devolvido ao depósito", "交還倉存"),
    "what.to_withdrawn": ("Withdrawn", "Retirado", "Retirado", "收回"),
    "what.to_cancelled": ("Cancelled", "Anulado", "Anulado", "註銷"),
    "what.to_destroyed": ("Destroyed", "Destruido", "Destruído", "銷毀"),
    "what.void_throw": ("Void throw", "Tirada nula", "Lançamento nulo", "擲骰無效"),
    "what.void_dice": ("Dice of a void throw", "Dados de tirada nula", "Dados de lançamento nulo", "無效擲骰的骰子"),
    "what.explained": ("Opening explained", "Apertura explicada", "Abertura explicada", "說明開啟原因"),
    "what.duty": ("On duty", "De servicio", "De serviço", "當值"),
    "what.reserve_opened": ("Reserve opened", "Reserva abierta", "Reserva aberta", "備用骰盒開啟"),
    "what.reserve_closed": ("Reserve closed", "Reserva cerrada", "Reserva fechada", "備用骰盒關閉"),
    "what.alert_raised": ("ALERT", "ALERTA", "ALERTA", "警報"),
    "what.alert_cleared": ("Alert over", "Alerta terminada", "Alerta terminado", "警報解除"),
    "what.alert_acknowledged": ("Alert noted", "Alerta atendida", "Alerta atendido", "警報已確認"),
    # Phrases of the rows
    "seen_at_start": (
        "seen when the terminal started",
        "visto al arrancar el terminal",
        "visto ao arrancar o terminal",
        "終端機啟動時發現",
    ),
    "unexplained": ("NOT EXPLAINED", "SIN EXPLICAR", "SEM EXPLICAÇÃO", "未有說明"),
    "explained_late": (
        "explained late by a supervisor",
        "explicada tarde por el jefe de mesa",
        "explicada tarde pelo supervisor",
        "主管其後補充說明",
    ),
    "seconds": ("{number} s", "{number} s", "{number} s", "{number} 秒"),
    "still_open": ("still open", "sigue abierta", "ainda aberta", "仍然開啟"),
    "not_known": ("not known", "no consta", "não consta", "不詳"),
    "of_event": ("event {seq}", "evento {seq}", "evento {seq}", "事件 {seq}"),
    "die": ("die {die}", "dado {die}", "dado {die}", "骰子 {die}"),
    "offered_dice": ("offered: {dice}", "ofrecidos: {dice}", "apresentados: {dice}", "供選擇：{dice}"),
    "taken_dice": ("taken: {dice}", "tomados: {dice}", "tomados: {dice}", "選取：{dice}"),
    "counted_by": (
        "by the rules this throw is read ({source}); in the log it is void",
        "según las normas esta tirada se lee ({source}); en el registro es nula",
        "segundo as regras este lançamento é lido ({source}); no registo é nulo",
        "按規則此次擲骰應予讀取（{source}）；日誌記為無效",
    ),
    "unsound": ("unsound: {what}", "defectuoso: {what}", "defeituoso: {what}", "不合格：{what}"),
    "differs": (
        "die {die}: by the log {log}, seen {seen}",
        "dado {die}: según el registro {log}, visto {seen}",
        "dado {die}: segundo o registo {log}, visto {seen}",
        "骰子 {die}：日誌記為「{log}」，點算為「{seen}」",
    ),
    "not_of_set": ("not of this set", "ajeno al juego", "alheio ao jogo", "不屬此組"),
    "not_seen": ("nowhere", "en ningún lugar", "em lado nenhum", "未見"),
    "agrees": ("agrees with the log", "coincide con el registro", "coincide com o registo", "與日誌相符"),
    "no_rows": (
        "Nothing about dice or the reserve.",
        "Nada sobre dados ni reserva.",
        "Nada sobre dados ou reserva.",
        "沒有骰子或備用骰盒的記錄。",
    ),
    # Status
    "where": ("Where", "Lugar", "Onde", "位置"),
    "reserve": ("Reserve", "Reserva", "Reserva", "備用骰盒"),
    "reserve.open": ("open", "abierta", "aberta", "開啟"),
    "reserve.closed": ("closed", "cerrada", "fechada", "關閉"),
    "standing_alerts": ("Alerts", "Alertas", "Alertas", "警報"),
    "no_sets": (
        "No set was received yet.",
        "Aún no se ha recibido ningún juego.",
        "Ainda não foi recebido nenhum jogo.",
        "尚未收到骰組。",
    ),
    "set_facts": (
        "{number} dice, {maker}, {colour}",
        "{number} dados, {maker}, {colour}",
        "{number} dados, {maker}, {colour}",
        "{number} 顆，{maker}，{colour}",
    ),
    "house_mark": ("mark {mark}", "marca {mark}", "marca {mark}", "標記 {mark}"),
    # The day's account
    "account": ("Account of the dice", "Cuenta de los dados", "Conta dos dados", "骰子數目"),
    "sum": ("Sum", "Total", "Total", "合計"),
    "account.beginning": ("At the beginning", "Al principio", "No início", "開始時"),
    "account.received": ("+ Received", "+ Recibidos", "+ Recebidos", "＋ 收到"),
    "account.destroyed": ("− Destroyed", "− Destruidos", "− Destruídos", "－ 銷毀"),
    "account.end": ("= At the end", "= Al final", "= No fim", "＝ 結束時"),
    "account.of_which": ("At the end, by place", "Al final, por lugar", "No fim, por lugar", "結束時的位置"),
    "account.movements": ("Moved on this day", "Movimientos del día", "Movimentos do dia", "當日轉移"),
    "account.distributed": ("Distributed to the table", "Entregados a la mesa", "Entregues à mesa", "送到賭枱"),
    "account.returned": ("Returned to the store", "Devueltos al almacén", "Devolvidos ao depósito", "交還倉存"),
    "account.withdrawn": ("Withdrawn", "Retirados", "Retirados", "收回"),
    "account.cancelled": ("Cancelled", "Anulados", "Anulados", "註銷"),
    "account.missing": ("Gone missing", "Desaparecidos", "Desaparecidos", "遺失"),
    "account.found": ("Missing and found", "Desaparecidos y hallados", "Desaparecidos e achados", "遺失後尋回"),
    "account.in_store": ("In the store", "En el almacén", "No depósito", "倉存"),
    "account.in_play": ("In play", "En juego", "Em jogo", "使用中"),
    "account.in_reserve": ("In the reserve", "En la reserva", "Na reserva", "備用"),
    "account.elsewhere": ("Elsewhere at the table", "En otro lugar de la mesa", "Noutro lugar da mesa", "枱上其他位置"),
    "account.in_missing": ("Missing", "Desaparecidos", "Desaparecidos", "遺失"),
    "account.in_withdrawn": ("Withdrawn", "Retirados", "Retirados", "已收回"),
    "account.in_cancelled": ("Cancelled", "Anulados", "Anulados", "已註銷"),
    "account.hours": ("Hours at the table", "Horas en la mesa", "Horas na mesa", "在枱時數"),
    "over_24_hours": ("In use over 24 hours", "En uso más de 24 horas", "Em uso há mais de 24 horas", "使用超過24小時"),
    "none": ("none", "ninguno", "nenhum", "沒有"),
    "balances": (
        "The account balances: {beginning} + {received} − {destroyed} = {end}.",
        "La cuenta cuadra: {beginning} + {received} − {destroyed} = {end}.",
        "A conta está certa: {beginning} + {received} − {destroyed} = {end}.",
        "數目相符：{beginning} ＋ {received} － {destroyed} ＝ {end}。",
    ),
    "balances_not": (
        "THE ACCOUNT DOES NOT BALANCE: {beginning} + {received} − {destroyed}, and {end} at the end.",
        "LA CUENTA NO CUADRA: {beginning} + {received} − {destroyed}, y {end} al final.",
        "A CONTA NÃO ESTÁ CERTA: {beginning} + {received} − {destroyed}, e {end} no fim.",
        "數目不符：{beginning} ＋ {received} － {destroyed}，結束時為 {end}。",
    ),
    "moved_from_elsewhere": (
        'Event {seq} moves die {die} of set {set} from "{source}"; by the events before it was: {was}.',
        "El evento {seq} mueve el dado {die} del juego {set} desde «{source}»; según los anteriores estaba: {was}.",
        "O evento {seq} move o dado {die} do jogo {set} de «{source}»; segundo os anteriores estava: {was}.",
        "事件 {seq} 把骰組 {set} 的骰子 {die} 由「{source}」移出，但按之前的事件它在：{was}。",
    ),
    "received_twice": (
        "Event {seq} receives die {die} of set {set}, which was received before.",
        "El evento {seq} recibe el dado {die} del juego {set}, ya recibido antes.",
        "O evento {seq} recebe o dado {die} do jogo {set}, já recebido antes.",
        "事件 {seq} 重複收到骰組 {set} 的骰子 {die}。",
    ),
    "never_received": ("never received", "nunca recibido", "nunca recebido", "從未收到"),
    "no_dice": (
        "There are no dice to account for on this day.",
        "No hay dados de los que dar cuenta en este día.",
        "Não há dados de que dar conta neste dia.",
        "當日沒有骰子需要核對。",
    ),
    "no_events": (
        "Nothing was done with dice or the reserve on this day.",
        "En este día no se hizo nada con dados ni reserva.",
        "Neste dia nada se fez com dados ou reserva.",
        "當日沒有任何骰子或備用骰盒的事件。",
    ),
    "no_dice_recorded": (
        "NO SET OF DICE WAS RECORDED: {number} rolls on this day, with dice that the log does not know.",
        "NO CONSTA NINGÚN JUEGO DE DADOS: {number} tiradas en este día, con dados que el registro no conoce.",
        "NÃO CONSTA NENHUM JOGO DE DADOS: {number} lançamentos neste dia, com dados que o registo não conhece.",
        "沒有任何骰組的記錄：當日擲骰 {number} 次，所用骰子不在日誌中。",
    ),
    "no_dice_recorded.one": (
        "NO SET OF DICE WAS RECORDED: {number} roll on this day, with dice that the log does not know.",
        "NO CONSTA NINGÚN JUEGO DE DADOS: {number} tirada en este día, con dados que el registro no conoce.",
        "NÃO CONSTA NENHUM JOGO DE DADOS: {number} lançamento neste dia, com dados que o registo não conhece.",
        "沒有任何骰組的記錄：當日擲骰 {number} 次，所用骰子不在日誌中。",
    ),
    "not_begun": (
        "This day begins at {time}; the table is still in the gaming day {day}.",
        "Este día empieza a las {time}; la mesa está aún en el día de juego {day}.",
        "Este dia começa às {time}; a mesa está ainda no dia de jogo {day}.",
        "當日於 {time} 開始；賭枱仍在博彩日 {day}。",
    ),
    "not_over": (
        "Provisional: this day is not over; the journal ends before it does.",
        "Provisional: este día no ha terminado; el diario termina antes.",
        "Provisório: este dia não terminou; o diário termina antes.",
        "暫定：當日尚未結束，記錄在此之前已完結。",
    ),
    "is_over": (
        "This day is over; the journal ends in the gaming day {day}.",
        "Este día ha terminado; el diario acaba en el día de juego {day}.",
        "Este dia terminou; o diário acaba no dia de jogo {day}.",
        "當日已結束；記錄至博彩日 {day}。",
    ),
    "free_clock": (
        "The clock was not synced at {number} events ({seqs}): their order is certain, their times are not.",
        "El reloj no estaba sincronizado en {number} eventos ({seqs}): su orden es cierto, su hora no.",
        "O relógio não estava sincronizado em {number} eventos ({seqs}): a ordem é certa, a hora não.",
        "有 {number} 個事件（{seqs}）的時鐘未同步：次序確定，時間不確定。",
    ),
    "free_clock.one": (
        "The clock was not synced at {number} event ({seqs}): its order is certain, its time is not.",
        "El reloj no estaba sincronizado en {number} evento ({seqs}): su orden es cierto, su hora no.",
        "O relógio não estava sincronizado em {number} evento ({seqs}): a ordem é certa, a hora não.",
        "有 {number} 個事件（{seqs}）的時鐘未同步：次序確定，時間不確定。",
    ),
    "free_mark": (
        "? = the clock was not synced: the order is certain, the time is not.",
        "? = el reloj no estaba sincronizado: el orden es cierto, la hora no.",
        "? = o relógio não estava sincronizado: a ordem é certa, a hora não.",
        "? = 時鐘未同步：次序確定，時間不確定。",
    ),
    "counts": ("Counts", "Recuentos", "Contagens", "點算"),
    "openings": ("Openings of the reserve", "Aperturas de la reserva", "Aberturas da reserva", "備用骰盒的開啟"),
    "openings_sum": (
        "{openings}; {unexplained} not explained; {late}.",
        "{openings}; {unexplained} sin explicar; {late}.",
        "{openings}; {unexplained} sem explicação; {late}.",
        "{openings}；{unexplained} 次未有說明；{late}。",
    ),
    "openings_number": ("{number} openings", "{number} aperturas", "{number} aberturas", "共開啟 {number} 次"),
    "openings_number.one": ("{number} opening", "{number} apertura", "{number} abertura", "共開啟 {number} 次"),
    "openings_late": (
        "{number} explained late by a supervisor",
        "{number} explicadas tarde por el jefe de mesa",
        "{number} explicadas tarde pelo supervisor",
        "{number} 次由主管補充說明",
    ),
    "openings_late.one": (
        "{number} explained late by a supervisor",
        "{number} explicada tarde por el jefe de mesa",
        "{number} explicada tarde pelo supervisor",
        "{number} 次由主管補充說明",
    ),
    "changes": ("Changes of dice", "Cambios de dados", "Mudanças de dados", "換骰"),
    "changes_sum": (
        "{number} changes of dice; {broken} against the rules.",
        "{number} cambios de dados; {broken} contra las normas.",
        "{number} mudanças de dados; {broken} contra as regras.",
        "共換骰 {number} 次；{broken} 次違反規則。",
    ),
    "changes_sum.one": (
        "{number} change of dice; {broken} against the rules.",
        "{number} cambio de dados; {broken} contra las normas.",
        "{number} mudança de dados; {broken} contra as regras.",
        "共換骰 {number} 次；{broken} 次違反規則。",
    ),
    "broken_rules": ("Against the rules", "Contra las normas", "Contra as regras", "違反規則"),
    "void_throws": ("Void throws", "Tiradas nulas", "Lançamentos nulos", "無效擲骰"),
    "article": ("Article", "Artículo", "Artigo", "條文"),
    "house": ("house", "casa", "casa", "娛樂場規定"),
    # Are they fair
    "fairness": (
        "Faces and totals thrown",
        "Caras y totales lanzados",
        "Faces e somas lançadas",
        "擲出的面及總數",
    ),
    "faces": ("Faces", "Caras", "Faces", "各面"),
    "totals": ("Totals", "Totales", "Somas", "總數"),
    "fair_rolls": ("{number} rolls", "{number} tiradas", "{number} lançamentos", "擲 {number} 次"),
    "fair_rolls.one": ("{number} roll", "{number} tirada", "{number} lançamento", "擲 {number} 次"),
    "fair_chance": (
        "{what}: chance gives this or worse with p = {probability}",
        "{what}: el azar da esto o peor con p = {probability}",
        "{what}: o acaso dá isto ou pior com p = {probability}",
        "{what}：純屬偶然的機率 p = {probability}",
    ),
    "fair_few": (
        "{what}: too few rolls to say",
        "{what}: muy pocas tiradas para decirlo",
        "{what}: lançamentos insuficientes para o dizer",
        "{what}：次數太少，未能判斷",
    ),
    "fair_before": (
        "first look after {pace} rolls",
        "primera revisión tras {pace} tiradas",
        "primeiro exame após {pace} lançamentos",
        "擲滿 {pace} 次後首次檢視",
    ),
    "fair_unmarked": (
        "no mark in {number} looks, one each {pace} rolls",
        "sin señal en {number} revisiones, una cada {pace} tiradas",
        "sem sinal em {number} exames, um por {pace} lançamentos",
        "每 {pace} 次檢視一次，共 {number} 次，沒有異常",
    ),
    "fair_unmarked.one": (
        "no mark in {number} look, one each {pace} rolls",
        "sin señal en {number} revisión, una cada {pace} tiradas",
        "sem sinal em {number} exame, um por {pace} lançamentos",
        "每 {pace} 次檢視一次，共 {number} 次，沒有異常",
    ),
    "fair_mark": (
        "ADVICE: {what}: chance alone is an unlikely explanation (look {look}, after {rolls} rolls: "
        "p = {probability}, below {threshold}). Have the dice inspected.",
        "AVISO: {what}: el mero azar es una explicación improbable (revisión {look}, tras {rolls} tiradas: "
        "p = {probability}, menos de {threshold}). Inspeccionar los dados.",
        "AVISO: {what}: o mero acaso é uma explicação improvável (exame {look}, após {rolls} lançamentos: "
        "p = {probability}, menos de {threshold}). Verificar os dados.",
        "提示：{what}：難以純用偶然解釋（第 {look} 次檢視，擲 {rolls} 次後：p = {probability}，低於 {threshold}）。"
        "請檢查骰子。",
    ),
    "fair_of_none": (
        "{number} rolls while no set was known to be in play.",
        "{number} tiradas sin que constara un juego de dados en uso.",
        "{number} lançamentos sem jogo de dados conhecido em uso.",
        "有 {number} 次擲骰沒有已知的使用中骰組。",
    ),
    "fair_of_none.one": (
        "{number} roll while no set was known to be in play.",
        "{number} tirada sin que constara un juego de dados en uso.",
        "{number} lançamento sem jogo de dados conhecido em uso.",
        "有 {number} 次擲骰沒有已知的使用中骰組。",
    ),
    "plot_about": (
        "{rolls}; bars: thrown, lines: expected",
        "{rolls}; barras: lanzado, líneas: esperado",
        "{rolls}; barras: lançado, linhas: esperado",
        "{rolls}；柱：實際，線：預期",
    ),
    # Signatures
    "signatures": ("Signatures", "Firmas", "Assinaturas", "簽署"),
    "sign.boxman": ("Boxman", "Boxman", "Boxman", "枱面主管"),
    "sign.supervisor": ("Supervisor", "Jefe de mesa", "Supervisor", "主管"),
    "sign.inspector": ("Inspector", "Inspector", "Inspector", "督察"),
    "sign.name": ("Name", "Nombre", "Nome", "姓名"),
    "sign.signature": ("Signature", "Firma", "Assinatura", "簽名"),
    "sign.date": ("Date and time", "Fecha y hora", "Data e hora", "日期及時間"),
}
