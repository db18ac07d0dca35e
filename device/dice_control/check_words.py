"""The words of an inspection: what was looked at, and with what; English, Spanish, Portuguese, Traditional Chinese.

The checks are those of the rules of dice (`rules/*.json`), the instruments those of `dice_rules.INSTRUMENTS`.
"""

from typing import Final

# key: English, Spanish, Portuguese, Traditional Chinese
CHECK_WORDS: Final[dict[str, tuple[str, str, str, str]]] = {
    "check.same_colour": ("one colour", "un mismo color", "uma só cor", "顏色一致"),
    "check.transparent": ("transparent", "transparentes", "transparentes", "透明"),
    "check.polished_faces": ("faces polished", "caras pulidas", "faces polidas", "面已拋光"),
    "check.sharp_edges": ("edges sharp", "aristas vivas", "arestas vivas", "棱邊銳利"),
    "check.sharp_corners": ("corners sharp", "ángulos vivos", "cantos vivos", "角位銳利"),
    "check.flush_pips": ("pips flush", "puntos no ahuecados", "pintas não côncavas", "點子平齊"),
    "check.numbered": ("numbered", "numerados", "numerados", "有編號"),
    "check.house_mark": ("the house's mark", "marca de la casa", "marca da casa", "娛樂場標記"),
    "check.sound": ("in perfect state", "en perfecto estado", "em perfeito estado", "狀況完好"),
    "check.equal_edges": ("edges equal", "aristas iguales", "arestas iguais", "邊長相等"),
    "check.opposite_faces_seven": (
        "opposite faces add up to seven",
        "caras opuestas suman siete",
        "faces opostas somam sete",
        "對面點數和為七",
    ),
    "check.clear_pips": ("pips clear", "puntos nítidos", "pintas nítidas", "點子清晰"),
    "check.balanced": ("balanced", "equilibrados", "equilibrados", "平衡"),
    "check.not_metal": ("not of metal", "no metálicos", "não metálicos", "非金屬"),
    "check.not_cloth_colour": (
        "of another colour than the cloth",
        "de color distinto al del paño",
        "de cor diferente da do pano",
        "與枱布顏色不同",
    ),
    "check.new": ("new", "nuevos", "novos", "全新"),
    "check.calibrated": ("calibrated", "calibrados", "calibrados", "已校準"),
    "instrument.micrometer": ("micrometer", "micrómetro", "micrómetro", "千分尺"),
    "instrument.balancing_caliper": ("balancing caliper", "calibre de equilibrio", "calibre de equilíbrio", "平衡卡尺"),
    "instrument.steel_square": ("steel square", "escuadra de acero", "esquadro de aço", "鋼角尺"),
    "instrument.magnet": ("magnet", "imán", "íman", "磁石"),
    "checked": ("checked: {names}", "comprobado: {names}", "comprovado: {names}", "已檢查：{names}"),
    "failed": ("FAILED: {names}", "NO CUMPLE: {names}", "NÃO CUMPRE: {names}", "不合格：{names}"),
    "not_checked": ("not checked: {names}", "sin comprobar: {names}", "por comprovar: {names}", "未檢查：{names}"),
    "showed": ("{name}: {showed}", "{name}: {showed}", "{name}: {showed}", "{name}：{showed}"),
    "showed_unsound": (
        "{name}: {showed} (NOT SOUND)",
        "{name}: {showed} (NO CONFORME)",
        "{name}: {showed} (NÃO CONFORME)",
        "{name}：{showed}（不合格）",
    ),
    "no_instruments": ("no instruments", "sin instrumentos", "sem instrumentos", "沒有使用儀器"),
    "edges": ("edges (mm): {edges}", "aristas (mm): {edges}", "arestas (mm): {edges}", "邊長（毫米）：{edges}"),
    "nominal_edge": ("edge {mm} mm", "arista {mm} mm", "aresta {mm} mm", "邊長 {mm} 毫米"),
    "sound_dice": ("sound: {dice}", "conformes: {dice}", "conformes: {dice}", "合格：{dice}"),
    "all_sound": ("all sound", "todos conformes", "todos conformes", "全部合格"),
}
