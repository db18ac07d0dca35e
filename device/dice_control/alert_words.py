"""What alerts and broken rules say in Spanish, Portuguese and Traditional Chinese; the journal says it in English.

Each has one or more phrases, those that say most first: the first is used of which all parts are known, so that what an
older version wrote down with less detail is still told. What has no phrase here is told in the journal's words.
"""

from typing import Final

Phrases = tuple[tuple[str, str, str], ...]

ALERT_PHRASES: Final[dict[str, Phrases]] = {
    "reserve_unexplained": (
        (
            "La reserva se abrió tras la tirada {roll_number} (tirador {shooter}; evento {opening}), y otras {further} "
            "veces después, y nadie dio el motivo. Debe explicarlo el jefe de mesa.",
            "A reserva foi aberta após o lançamento {roll_number} (lançador {shooter}; evento {opening}), e outras "
            "{further} vezes depois, e ninguém disse porquê. Cabe ao supervisor explicá-lo.",
            "備用骰盒在第 {roll_number} 擲後開啟（擲骰者 {shooter}；事件 {opening}），其後再開 {further} 次，"
            "沒有說明原因。須由主管說明。",
        ),
        (
            "La reserva se abrió tras la tirada {roll_number} (tirador {shooter}; evento {opening}) y nadie dio el "
            "motivo. Debe explicarlo el jefe de mesa.",
            "A reserva foi aberta após o lançamento {roll_number} (lançador {shooter}; evento {opening}) e ninguém "
            "disse porquê. Cabe ao supervisor explicá-lo.",
            "備用骰盒在第 {roll_number} 擲後開啟（擲骰者 {shooter}；事件 {opening}），沒有說明原因。須由主管說明。",
        ),
        (
            "La reserva se abrió (evento {opening}) y nadie dio el motivo. Debe explicarlo el jefe de mesa.",
            "A reserva foi aberta (evento {opening}) e ninguém disse porquê. Cabe ao supervisor explicá-lo.",
            "備用骰盒曾經開啟（事件 {opening}），沒有說明原因。須由主管說明。",
        ),
    ),
    "reserve_left_open": (
        (
            "La reserva lleva abierta más de {seconds} s. Cerrarla.",
            "A reserva está aberta há mais de {seconds} s. Fechá-la.",
            "備用骰盒開啟超過 {seconds} 秒，請關閉。",
        ),
        (
            "La reserva lleva abierta más de lo permitido. Cerrarla.",
            "A reserva está aberta há mais tempo do que o permitido. Fechá-la.",
            "備用骰盒開啟過久，請關閉。",
        ),
    ),
    "reserve_open_during_roll": (
        (
            "La reserva está abierta durante una tirada. Cerrarla y decir por qué se abrió.",
            "A reserva está aberta durante um lançamento. Fechá-la e dizer porque foi aberta.",
            "擲骰期間備用骰盒開啟。請關閉並說明原因。",
        ),
    ),
    "reserve_open_while_closed": (
        (
            "La reserva está abierta con la mesa cerrada. Cerrarla y decir por qué se abrió.",
            "A reserva está aberta com a mesa fechada. Fechá-la e dizer porque foi aberta.",
            "收枱期間備用骰盒開啟。請關閉並說明原因。",
        ),
    ),
    "slots_disagree": (
        (
            "En los huecos de la reserva hay {seen} dados; según el registro, {number}: {dice}. Contarlos y anotar el "
            "recuento.",
            "Nos lugares da reserva há {seen} dados; segundo o registo, {number}: {dice}. Contá-los e registar a "
            "contagem.",
            "備用骰盒內有 {seen} 顆骰子，日誌記為 {number} 顆：{dice}。請點算並記錄。",
        ),
        (
            "En los huecos de la reserva hay {seen} dados; según el registro, ninguno. Contarlos y anotar el recuento.",
            "Nos lugares da reserva há {seen} dados; segundo o registo, nenhum. Contá-los e registar a contagem.",
            "備用骰盒內有 {seen} 顆骰子，日誌記為沒有。請點算並記錄。",
        ),
    ),
    "slots_changed_shut": (
        (
            "Los dados de la reserva cambiaron con la tapa cerrada (evento {event}): huecos {before} > {after}. "
            "Contarlos y averiguar el motivo.",
            "Os dados da reserva mudaram com a tampa fechada (evento {event}): lugares {before} > {after}. Contá-los e "
            "apurar porquê.",
            "備用骰盒關閉期間，盒內骰子有變（事件 {event}）：格位 {before} > {after}。請點算並查明原因。",
        ),
    ),
    "dice_missing": (
        (
            "Faltan del juego {set}: {dice}. Buscarlos y anotar lo que se halle.",
            "Faltam do jogo {set}: {dice}. Procurá-los e registar o que for achado.",
            "骰組 {set} 遺失：{dice}。請尋找並記錄結果。",
        ),
    ),
    "dice_written_off": (
        (
            "Dados por perdidos sin hallarse, juego {set}: {dice} ({by}). Debe atenderlo otra persona.",
            "Dados como perdidos sem serem achados, jogo {set}: {dice} ({by}). Cabe a outra pessoa atendê-lo.",
            "未尋回而報失，骰組 {set}：{dice}（{by}）。須由另一人確認。",
        ),
    ),
    "recording_gap": (
        (
            "No se registró nada con el disco lleno ({gaps} veces; último evento {event}). Contar los dados.",
            "Nada se registou enquanto o disco esteve cheio ({gaps} vezes; último evento {event}). Contar os dados.",
            "磁碟已滿期間沒有任何記錄（{gaps} 次；最後事件 {event}）。請點算骰子。",
        ),
    ),
    "dice_not_named": (
        (
            "Un dado salió de la mesa (evento {event}) y nadie dijo cuál. Anotarlo.",
            "Um dado saiu da mesa (evento {event}) e ninguém disse qual. Registá-lo.",
            "有骰子離開枱面（事件 {event}），沒有說明是哪一顆。請記錄。",
        ),
    ),
    "set_to_replace": (
        (
            "Al juego {set} le quedan {at_hand} dados; las normas piden {asked} ({article}). Traer otro juego.",
            "Ao jogo {set} restam {at_hand} dados; as regras pedem {asked} ({article}). Trazer outro jogo.",
            "骰組 {set} 只餘 {at_hand} 顆；規則要求 {asked} 顆（{article}）。請換另一組。",
        ),
        (
            "Al juego {set} le quedan {at_hand} dados, menos de los que piden las normas. Traer otro juego.",
            "Ao jogo {set} restam {at_hand} dados, menos do que as regras pedem. Trazer outro jogo.",
            "骰組 {set} 只餘 {at_hand} 顆，少於規則所定。請換另一組。",
        ),
        (
            "Del juego {set} no aparecieron al acabar la serie: {dice}. Retirarlo y traer uno nuevo ({article}).",
            "Do jogo {set} não apareceram no fim da série: {dice}. Retirar o jogo e trazer um novo ({article}).",
            "骰組 {set} 在該輪結束時仍未尋回：{dice}。請收回該組並換上新組（{article}）。",
        ),
        (
            "Del juego {set} no aparecieron al acabar la serie: {dice}. Retirar el juego y traer uno nuevo.",
            "Do jogo {set} não apareceram no fim da série: {dice}. Retirar o jogo e trazer um novo.",
            "骰組 {set} 在該輪結束時仍未尋回：{dice}。請收回該組並換上新組。",
        ),
    ),
    "set_served_before": (
        (
            "El juego {set} sirvió en la sesión {session} y sigue en la mesa ({article}). Traer otro.",
            "O jogo {set} serviu na sessão {session} e continua na mesa ({article}). Trazer outro.",
            "骰組 {set} 已於場次 {session} 使用，仍在枱上（{article}）。請換另一組。",
        ),
        (
            "El juego {set} sirvió en la sesión {session} y sigue en la mesa. Traer otro.",
            "O jogo {set} serviu na sessão {session} e continua na mesa. Trazer outro.",
            "骰組 {set} 已於場次 {session} 使用，仍在枱上。請換另一組。",
        ),
    ),
    "dice_in_play": (
        (
            "Se anotan tiradas, pero según el registro los dados en juego no son dos de un mismo juego. Anotar cuáles "
            "están en juego.",
            "Registam-se lançamentos, mas segundo o registo os dados em jogo não são dois de um mesmo jogo. Registar "
            "quais estão em jogo.",
            "已輸入擲骰結果，但按日誌使用中的並非同一組的兩顆骰子。請記錄使用中的骰子。",
        ),
    ),
    "against_rule": (("Contra {rules}: {said}", "Contra {rules}: {said}", "違反 {rules}：{said}"),),
    "count_differs": (
        (
            "{what} del juego {set}: difiere del registro: {difference}.",
            "{what} do jogo {set}: difere do registo: {difference}.",
            "骰組 {set} 的{what}與日誌不符：{difference}。",
        ),
        (
            "Un recuento difiere del registro: {difference}.",
            "Uma contagem difere do registo: {difference}.",
            "點算與日誌不符：{difference}。",
        ),
    ),
    "no_opening_count": (
        (
            "Se lanzan dados sin recuento de apertura: {sets}. Contarlos.",
            "Lançam-se dados sem contagem de abertura: {sets}. Contá-los.",
            "未經開枱點算已擲骰：{sets}。請點算。",
        ),
    ),
    "no_closing_count": (
        (
            "La mesa se cerró sin recuento de cierre: {sets}. Contar los dados.",
            "A mesa foi fechada sem contagem de encerramento: {sets}. Contar os dados.",
            "未經收枱點算已收枱：{sets}。請點算。",
        ),
    ),
}

# By rule; "check" and "instrument" are of check:... and instrument:..., the others that differ from the rule's own name
# are what `alert_texts` makes of it.
RULE_PHRASES: Final[dict[str, Phrases]] = {
    "in_set": (
        (
            "Juego {set} en la mesa junto con {others}: {number} dados; las normas piden {asked}.",
            "Jogo {set} na mesa junto com {others}: {number} dados; as regras pedem {asked}.",
            "骰組 {set} 與 {others} 同在枱上：{number} 顆；規則要求 {asked} 顆。",
        ),
        (
            "Juego {set}: {number} dados; las normas piden {asked}.",
            "Jogo {set}: {number} dados; as regras pedem {asked}.",
            "骰組 {set}：{number} 顆；規則要求 {asked} 顆。",
        ),
        (
            "El número de dados del juego {set} en la mesa no es el que piden las normas.",
            "O número de dados do jogo {set} na mesa não é o que as regras pedem.",
            "骰組 {set} 在枱上的數目不符合規則。",
        ),
    ),
    "serials": (
        (
            "Los dados del juego {set} no llevan número de serie.",
            "Os dados do jogo {set} não têm número de série.",
            "骰組 {set} 的骰子沒有編號。",
        ),
    ),
    "house_mark": (
        (
            "Los dados del juego {set} no llevan la marca de la casa.",
            "Os dados do jogo {set} não têm a marca da casa.",
            "骰組 {set} 的骰子沒有娛樂場標記。",
        ),
    ),
    "edge": (
        (
            "Juego {set}, dado {dice}: arista de {edge} mm; las normas piden de {minimum} a {maximum} mm.",
            "Jogo {set}, dado {dice}: aresta de {edge} mm; as regras pedem de {minimum} a {maximum} mm.",
            "骰組 {set} 骰子 {dice}：邊長 {edge} 毫米；規則要求 {minimum} 至 {maximum} 毫米。",
        ),
        (
            "Juego {set}: arista de {edge} mm; las normas piden de {minimum} a {maximum} mm.",
            "Jogo {set}: aresta de {edge} mm; as regras pedem de {minimum} a {maximum} mm.",
            "骰組 {set}：邊長 {edge} 毫米；規則要求 {minimum} 至 {maximum} 毫米。",
        ),
        (
            "Juego {set}: una arista no mide lo que piden las normas.",
            "Jogo {set}: uma aresta não mede o que as regras pedem.",
            "骰組 {set}：邊長不符合規則。",
        ),
    ),
    "reuse": (
        (
            "El juego {set} ya sirvió en la sesión {session}.",
            "O jogo {set} já serviu na sessão {session}.",
            "骰組 {set} 已於場次 {session} 使用。",
        ),
        (
            "El juego {set} ya sirvió antes; los dados han de ser otros.",
            "O jogo {set} já serviu antes; os dados têm de ser outros.",
            "骰組 {set} 曾經使用；須用其他骰子。",
        ),
    ),
    "inspection": (
        (
            "Juego {set}: usados sin inspección previa: {dice}.",
            "Jogo {set}: usados sem verificação prévia: {dice}.",
            "骰組 {set}：未經檢查已使用：{dice}。",
        ),
        (
            "Juego {set}: dados usados sin inspección previa.",
            "Jogo {set}: dados usados sem verificação prévia.",
            "骰組 {set}：骰子未經檢查已使用。",
        ),
    ),
    "sound": (
        (
            "Juego {set}: hallados defectuosos y usados: {dice}.",
            "Jogo {set}: achados defeituosos e usados: {dice}.",
            "骰組 {set}：已發現不合格仍使用：{dice}。",
        ),
        (
            "Juego {set}: dados hallados defectuosos y usados.",
            "Jogo {set}: dados achados defeituosos e usados.",
            "骰組 {set}：骰子已發現不合格仍使用。",
        ),
    ),
    "sound_brought": (
        (
            "Juego {set}: hallados defectuosos y llevados a la mesa: {dice}.",
            "Jogo {set}: achados defeituosos e trazidos à mesa: {dice}.",
            "骰組 {set}：已發現不合格仍送到枱上：{dice}。",
        ),
        (
            "Juego {set}: dados hallados defectuosos y llevados a la mesa.",
            "Jogo {set}: dados achados defeituosos e trazidos à mesa.",
            "骰組 {set}：骰子已發現不合格仍送到枱上。",
        ),
    ),
    "no_opening": (
        (
            "Dados anotados como salidos de la reserva o puestos en ella sin apertura que lo explique.",
            "Dados registados como saídos da reserva ou postos nela sem abertura que o explique.",
            "記錄骰子進出備用骰盒，但沒有相應的開啟。",
        ),
    ),
    "sound_again": (
        (
            "Juego {set}: dados por buenos tras hallarse defectuosos: {dice} (antes: {before}).",
            "Jogo {set}: dados por bons depois de achados defeituosos: {dice} (antes: {before}).",
            "骰組 {set}：曾被發現不合格，現稱合格：{dice}（先前：{before}）。",
        ),
        (
            "Juego {set}: dados dados por buenos tras hallarse defectuosos.",
            "Jogo {set}: dados dados por bons depois de achados defeituosos.",
            "骰組 {set}：曾被發現不合格的骰子現稱合格。",
        ),
    ),
    "after_floor": (
        (
            "Juego {set}: de vuelta a la mesa sin inspección: {dice}.",
            "Jogo {set}: de volta à mesa sem verificação: {dice}.",
            "骰組 {set}：未經檢查放回枱上：{dice}。",
        ),
        (
            "Juego {set}: dados de vuelta a la mesa sin inspección.",
            "Jogo {set}: dados de volta à mesa sem verificação.",
            "骰組 {set}：骰子未經檢查放回枱上。",
        ),
    ),
    "change_during_series": (
        (
            "No hay cambio de dados ({reason}) durante la serie del punto {point}.",
            "Não há mudança de dados ({reason}) durante a série do ponto {point}.",
            "點數 {point} 的一輪中不得換骰（{reason}）。",
        ),
    ),
    "change_not_fallen": (
        (
            "No hay cambio de dados ({reason}) durante la serie del punto {point}: según el registro no salió ningún "
            "dado de la mesa.",
            "Não há mudança de dados ({reason}) durante a série do ponto {point}: segundo o registo não saiu nenhum "
            "dado da mesa.",
            "點數 {point} 的一輪中不得換骰（{reason}）：按日誌沒有骰子離開枱面。",
        ),
    ),
    "change_come_out": (
        (
            "No hay cambio de dados ({reason}) antes de la tirada de salida.",
            "Não há mudança de dados ({reason}) antes do primeiro lançamento.",
            "首擲前不得換骰（{reason}）。",
        ),
    ),
    "lid_shut": (
        (
            "Salieron o entraron dados de la reserva sin que se abriera la tapa.",
            "Saíram ou entraram dados na reserva sem que a tampa fosse aberta.",
            "骰子進出備用骰盒，但盒蓋未曾開啟。",
        ),
    ),
    "correction": (
        (
            "Juego {set}: puestos en otro lugar del registro sin recuento que los viera allí: {dice}.",
            "Jogo {set}: postos noutro lugar do registo sem contagem que ali os visse: {dice}.",
            "骰組 {set}：未經點算證實而更正位置：{dice}。",
        ),
        (
            "Juego {set}: dados puestos en otro lugar del registro sin recuento que los viera allí.",
            "Jogo {set}: dados postos noutro lugar do registo sem contagem que ali os visse.",
            "骰組 {set}：未經點算證實而更正骰子位置。",
        ),
    ),
    "final": (
        (
            "Juego {set}: antes retirados o anulados: {dice}.",
            "Jogo {set}: antes retirados ou anulados: {dice}.",
            "骰組 {set}：先前已收回或註銷：{dice}。",
        ),
        (
            "Juego {set}: dados que ya se habían retirado o anulado.",
            "Jogo {set}: dados que já tinham sido retirados ou anulados.",
            "骰組 {set}：骰子先前已收回或註銷。",
        ),
    ),
    "offered": (
        (
            "Juego {set}: se ofrecieron {number} dados; las normas piden {asked}.",
            "Jogo {set}: foram apresentados {number} dados; as regras pedem {asked}.",
            "骰組 {set}：只提供 {number} 顆；規則要求 {asked} 顆。",
        ),
        (
            "Juego {set}: se ofrecieron menos dados de los que piden las normas.",
            "Jogo {set}: foram apresentados menos dados do que as regras pedem.",
            "骰組 {set}：提供的骰子少於規則要求。",
        ),
    ),
    "in_reserve": (
        (
            "Juego {set}: {number} dados en la reserva; las normas piden {asked}.",
            "Jogo {set}: {number} dados na reserva; as regras pedem {asked}.",
            "骰組 {set}：備用骰盒內 {number} 顆；規則要求 {asked} 顆。",
        ),
        (
            "Juego {set}: los dados de la reserva no son los que piden las normas.",
            "Jogo {set}: os dados da reserva não são os que as regras pedem.",
            "骰組 {set}：備用骰盒內的數目不符合規則。",
        ),
    ),
    "destroyed": (
        (
            "Juego {set}: números de dados ya destruidos del juego {others}: {dice}.",
            "Jogo {set}: números de dados já destruídos do jogo {others}: {dice}.",
            "骰組 {set}：編號屬骰組 {others} 已銷毀的骰子：{dice}。",
        ),
    ),
    "check": (("Sin comprobar: {name}.", "Por comprovar: {name}.", "未檢查：{name}。"),),
    "instrument": (("Inspeccionados sin: {name}.", "Verificados sem: {name}.", "檢查時未使用：{name}。"),),
}

# What the rules of dice say in English beside an article's number.
ARTICLE_ASIDES: Final[dict[str, tuple[str, str, str]]] = {
    "(kept in force by the decree's transitional provision)": (
        "(vigente por la disposición transitoria del decreto)",
        "(em vigor pela disposição transitória do decreto)",
        "（按法令過渡條文仍然有效）",
    ),
    ": chosen from those offered; how many is left to the house": (
        ": escogidos entre los ofrecidos; cuántos, lo decide la casa",
        ": escolhidos entre os apresentados; quantos, decide a casa",
        "：由提供的骰子中選取，數目由娛樂場決定",
    ),
    " with ": (" con ", " com ", " 及 "),
    "house: after ": ("casa, según ", "casa, segundo ", "娛樂場規定，參照 "),
}
