"""The words of a commissioning in the languages of the tables: English, Spanish, Portuguese, Traditional Chinese.

What people wrote stays as it is, and so does a time of the configuration, which is written there as it stands here.
"""

from typing import Final

from device.commissioning.steps import Step
from device.languages.languages import LANGUAGES

_ORDER: Final = tuple(LANGUAGES)

WORDS: Final = {
    "title": ("Commissioning report", "Informe de puesta en servicio", "Relatório de colocação em serviço", "驗收報告"),
    "table": ("Table", "Mesa", "Mesa", "賭枱"),
    "site": ("Casino", "Casino", "Casino", "娛樂場"),
    "by": ("Technician", "Técnico", "Técnico", "技術員"),
    "begun": ("Begun", "Inicio", "Início", "開始"),
    "ended": ("Ended", "Fin", "Fim", "結束"),
    "program": ("Program version", "Versión del programa", "Versão do programa", "程式版本"),
    "configuration": ("Configuration", "Configuración", "Configuração", "設定"),
    "node": ("Firmware of the I/O node", "Firmware del nodo de E/S", "Firmware do nó de E/S", "I/O 節點韌體"),
    "pins": ("Pin library", "Biblioteca de pines", "Biblioteca de pinos", "針腳程式庫"),
    "key": ("Public key of the unit", "Clave pública de la unidad", "Chave pública da unidade", "裝置公開密鑰"),
    "signature": ("Signature", "Firma", "Assinatura", "簽署"),
    "all_passed": (
        "Everything was tried, and everything passed.",
        "Se probó todo y todo está correcto.",
        "Tudo foi testado e tudo está correto.",
        "全部項目已測試並通過。",
    ),
    "not_all": (
        "Not everything passed: failed {failed}, skipped {skipped}.",
        "No todo está correcto: fallos {failed}, omitidas {skipped}.",
        "Nem tudo está correto: falhas {failed}, omitidos {skipped}.",
        "並非全部通過：不合格 {failed} 項，略過 {skipped} 項。",
    ),
    "tried": ("What was tried", "Lo que se probó", "O que foi testado", "測試項目"),
    "what": ("What", "Qué", "O quê", "項目"),
    "pin": ("Pin", "Pin", "Pino", "針腳"),
    "verdict": ("Result", "Resultado", "Resultado", "結果"),
    "why": ("Why", "Motivo", "Motivo", "原因"),
    "bounce": ("Bounce", "Rebote", "Ressalto", "抖動"),
    "at": ("When (UTC)", "Hora (UTC)", "Hora (UTC)", "時間 (UTC)"),
    "passed": ("passed", "correcto", "correto", "合格"),
    "failed": ("FAILED", "FALLO", "FALHA", "不合格"),
    "skipped": ("SKIPPED", "OMITIDA", "OMITIDO", "略過"),
    "reason.also": (
        "answered as well: {said}",
        "respondió también: {said}",
        "respondeu também: {said}",
        "同時有反應：{said}",
    ),
    "reason.both_faces": (
        "answers to the wrong face as well: {said}",
        "responde también a la cara equivocada: {said}",
        "responde também à face errada: {said}",
        "對錯誤的一面也有反應：{said}",
    ),
    "reason.not_lit": ("not lit", "no se enciende", "não acende", "未亮"),
    "reason.said": ("{said}", "{said}", "{said}", "{said}"),
    "step.puck": (
        "Puck {puck} on {place}, {face} up",
        "Disco {puck} en {place}, cara {face}",
        "Disco {puck} em {place}, face {face}",
        "點數牌 {puck} 在 {place}，{face} 面向上",
    ),
    "step.turned": (
        "Puck {puck} on {place}, {face} up: not seen",
        "Disco {puck} en {place}, cara {face}: no se ve",
        "Disco {puck} em {place}, face {face}: não se vê",
        "點數牌 {puck} 在 {place}，{face} 面向上：不應偵測到",
    ),
    "step.box": ("Button of box {place}", "Botón de la casilla {place}", "Botão da casa {place}", "{place} 號按鈕"),
    "step.button": ("{place} button", "Botón {place}", "Botão {place}", "{place} 按鈕"),
    "step.dice_key": ("Dice key {place}", "Tecla de dados {place}", "Tecla dos dados {place}", "骰子鍵 {place}"),
    "step.lamp_box": (
        "Lamp of box {place}",
        "Luz de la casilla {place}",
        "Luz da casa {place}",
        "{place} 號燈",
    ),
    "step.lamp_button": ("Lamp of {place}", "Luz de {place}", "Luz de {place}", "{place} 燈"),
    "step.lamp_dice_key": (
        "Lamp of dice key {place}",
        "Luz de la tecla de dados {place}",
        "Luz da tecla dos dados {place}",
        "骰子鍵 {place} 燈",
    ),
    "step.lid": (
        "Lid of the dice reserve: opened, shut",
        "Tapa de la reserva de dados: abierta, cerrada",
        "Tampa da reserva de dados: aberta, fechada",
        "備用骰盒蓋：開、關",
    ),
    "step.slot": (
        "Place {place} of the reserve: empty, die in it",
        "Lugar {place} de la reserva: vacío, con dado",
        "Lugar {place} da reserva: vazio, com dado",
        "備用骰盒第 {place} 格：空、有骰子",
    ),
    "step.door": (
        "Door of the cabinet: opened, shut",
        "Puerta del armario: abierta, cerrada",
        "Porta do armário: aberta, fechada",
        "機櫃門：開、關",
    ),
    "step.node": (
        "I/O node: unplugged, plugged in",
        "Nodo de E/S: desconectado, conectado",
        "Nó de E/S: desligado, ligado",
        "I/O 節點：拔除、插回",
    ),
    "step.network": (
        "Network: centre reached, cut, reached",
        "Red: centro alcanzado, cortada, alcanzado",
        "Rede: centro alcançado, cortada, alcançado",
        "網絡：連上中央、切斷、再連上",
    ),
    "step.power": (
        "Power: cut and back",
        "Alimentación: cortada y repuesta",
        "Alimentação: cortada e reposta",
        "電源：切斷並恢復",
    ),
    "timing": ("Settle times", "Tiempos de estabilización", "Tempos de estabilização", "穩定時間"),
    "in_force": ("In force", "Vigente", "Em vigor", "現行"),
    "measured": ("Longest bounce", "Rebote más largo", "Maior ressalto", "最長抖動"),
    "proposed": ("Proposed", "Propuesto", "Proposto", "建議"),
    "replace": (
        "{name}: bounces longer than any settle time allows for; replace the switch or its wire",
        "{name}: rebota más de lo que admite cualquier tiempo; cambiar el interruptor o su cable",
        "{name}: ressalta mais do que qualquer tempo admite; trocar o interruptor ou o seu cabo",
        "{name}：抖動時間過長，請更換開關或電線",
    ),
    "not_wired": (
        "Not wired, so not tried: {names}",
        "Sin cablear, no se probó: {names}",
        "Sem cabo, não testado: {names}",
        "未接線，未測試：{names}",
    ),
    "no_centre": (
        "No central system is configured: the network was not tried.",
        "No hay sistema central configurado: no se probó la red.",
        "Nenhum sistema central configurado: a rede não foi testada.",
        "未設定中央系統：未測試網絡。",
    ),
    "signatures": ("Signatures", "Firmas", "Assinaturas", "簽署"),
    "sign.name": ("Name", "Nombre", "Nome", "姓名"),
    "sign.signature": ("Signature", "Firma", "Assinatura", "簽名"),
    "sign.date": ("Date", "Fecha", "Data", "日期"),
    "sign.technician": ("Technician", "Técnico", "Técnico", "技術員"),
    "sign.supervisor": ("Pit supervisor", "Jefe de sector", "Chefe de banca", "區域主管"),
}


class Words:
    """The words of one of LANGUAGES."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._place = _ORDER.index(language)

    def __call__(self, key: str, **parts: object) -> str:
        """The word or phrase of a key, its parts put in. Raises KeyError for a key that there is none of."""
        return WORDS[key][self._place].format(**parts)

    def of_step(self, step: Step) -> str:
        """A step by name."""
        place, name = step.place.upper(), step.name
        if step.kind in ("puck", "turned"):
            return self(f"step.{step.kind}", puck=step.puck, place=place, face=step.face)
        if step.kind in ("press", "lamp"):
            lamp, plain = ("lamp_" if step.kind == "lamp" else ""), name.removeprefix("lamp_")
            kind, _, number = plain.rpartition("_")
            return self(f"step.{lamp}{kind or 'button'}", place=number.upper())
        if step.kind == "slot":
            return self("step.slot", place=place)
        return self(f"step.{name}")
