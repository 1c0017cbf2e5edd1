"""The published terms: where they lead, which symbols they have, one voice, and Chinese without mix-ups."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from mha_course.glossary.entry import FOLDER, all_entries, find_entry, fold

ROOT = Path(__file__).parents[2]
ENTRIES = all_entries()
# As everywhere in the course.
SYMBOLS = {
    "b": "batch",
    "n": "sequence-length",
    "n_q": "n-q",
    "n_k": "n-k",
    "d_model": "d-model",
    "h": "number-of-heads",
    "d_k": "d-k",
    "d_v": "d-v",
    "W_O": "output-projection",
    "W_Q": "projection",
    "W_K": "projection",
    "W_V": "projection",
}
# In shapes, and explained where they stand: features that collaborative heads share, answers to choose from.
_ONLY_THERE = {"w", "classes"}
# Simplified and traditional: all that the terms need, and more that they may.
_PAIRS = (
    "与與 个個 为為 义義 习習 乱亂 仅僅 从從 们們 众眾 优優 会會 传傳 伪偽 体體 余餘 储儲 关關 内內 "
    "准準 减減 击擊 则則 创創 办辦 动動 励勵 区區 华華 协協 单單 卖賣 卷捲 压壓 参參 发發 变變 叠疊 "
    "号號 后後 听聽 响響 图圖 圆圓 坏壞 块塊 声聲 处處 备備 复復 够夠 头頭 学學 实實 宽寬 宾賓 对對 "
    "寻尋 导導 尝嘗 层層 岁歲 师師 带帶 干幹 广廣 库庫 应應 异異 张張 弯彎 弹彈 强強 归歸 录錄 征徵 "
    "径徑 忆憶 态態 总總 惩懲 惯慣 扩擴 护護 担擔 拟擬 拥擁 择擇 挤擠 损損 换換 据據 数數 断斷 无無 "
    "旧舊 时時 显顯 晓曉 术術 朴樸 机機 杂雜 权權 条條 来來 极極 构構 标標 树樹 样樣 桥橋 梦夢 检檢 "
    "横橫 残殘 汇匯 汉漢 浅淺 测測 济濟 温溫 满滿 滤濾 灵靈 点點 烧燒 热熱 爱愛 状狀 献獻 环環 电電 "
    "画畫 盘盤 矿礦 码碼 础礎 确確 礼禮 离離 种種 积積 称稱 稳穩 笔筆 签簽 简簡 类類 系係 纠糾 红紅 "
    "约約 级級 纯純 纳納 纵縱 纸紙 线線 练練 组組 细細 终終 绍紹 经經 结結 绕繞 给給 络絡 绝絕 统統 "
    "继繼 绩績 绪緒 续續 维維 缓緩 编編 缩縮 网網 罚罰 职職 联聯 脑腦 节節 荣榮 药藥 虑慮 虚虛 补補 "
    "装裝 见見 观觀 规規 视視 览覽 触觸 计計 订訂 认認 讨討 让讓 训訓 议議 讯訊 记記 设設 访訪 证證 "
    "评評 识識 诊診 词詞 译譯 试試 诚誠 话話 询詢 该該 详詳 语語 误誤 说說 诵誦 课課 谁誰 调調 谈談 "
    "谢謝 谱譜 贝貝 负負 贡貢 财財 败敗 货貨 质質 贪貪 购購 费費 资資 赋賦 赖賴 赢贏 趋趨 车車 转轉 "
    "软軟 轴軸 轻輕 载載 较較 输輸 达達 迁遷 过過 运運 这這 进進 远遠 连連 迹跡 适適 选選 递遞 邻鄰 "
    "释釋 钟鐘 钥鑰 链鏈 锁鎖 错錯 键鍵 镜鏡 长長 门門 闭閉 问問 闲閒 间間 闸閘 闻聞 阅閱 队隊 阵陣 "
    "阶階 际際 陆陸 险險 随隨 难難 静靜 韵韻 页頁 顶頂 项項 顺順 顾顧 预預 领領 颈頸 频頻 题題 颜顏 "
    "额額 风風 飞飛 饰飾 饱飽 馈饋 馏餾 马馬 驱驅 驶駛 验驗 鱼魚 鸟鳥 黄黃 齐齊 齿齒 "
)
TRADITIONAL = {pair[0]: pair[1] for pair in _PAIRS.split()}


def in_the_cell(name: str, source: str) -> bool:
    """Whether all words of a name stand in a cell, as words or as beginnings of words."""
    said = fold(source).split()
    return all(any(word.startswith(part) for word in said) for part in fold(name).split())


def symbol_in_the_cell(symbol: str, source: str) -> bool:
    parts, said = fold(symbol).split(), fold(source).split()
    return any(said[i : i + len(parts)] == parts for i in range(len(said))) if parts else False


def test_there_is_all_that_the_course_speaks_of() -> None:
    assert len(ENTRIES) >= 120
    assert {entry.place.lesson for entry in ENTRIES.values()} >= {f"{i:02d}" for i in range(16)}
    assert Counter(entry.sentence for entry in ENTRIES.values()).most_common(1)[0][1] == 1


def test_the_link_lands_where_the_term_is_named() -> None:
    for entry in ENTRIES.values():
        place = entry.place
        assert any(
            in_the_cell(name, place.source) for name in (entry.term, *entry.also)
        ) or symbol_in_the_cell(entry.symbol, place.source), f"{place.cell} names none of {entry.names}"
        assert place.section not in {"Recap", "Check yourself", "Sources", "Next"}, "a place that explains it"
        assert not place.cell.endswith(("-imports", "-title", "-aims"))


def test_naming_is_more_than_sharing_letters() -> None:
    assert in_the_cell("padding mask", "**Masks** hide the *padding*.")
    assert not in_the_cell("padding mask", "Masks hide pads.")
    assert symbol_in_the_cell("d_k", "with $d_k = 4$") and not symbol_in_the_cell("h", "the head")


@pytest.mark.parametrize(("symbol", "key"), SYMBOLS.items())
def test_symbols_are_those_of_the_course(symbol: str, key: str) -> None:
    entry = find_entry(symbol)
    assert entry.key == key and symbol in (entry.symbol, *entry.also)


def test_the_conventions_of_the_readme_can_be_looked_up() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    line = re.search(r"Arrays are batch-first: (.+)", readme)[1]
    said = dict(re.findall(r"(batch|query length|key length|width|heads) `(\w+)`", line))
    assert said == {
        "batch": "b",
        "query length": "n_q",
        "key length": "n_k",
        "width": "d_model",
        "heads": "h",
    }
    named = {symbol for code in re.findall(r"`([^`]+)`", line) for symbol in re.findall(r"\w+", code)}
    assert named == {"b", "n_q", "n_k", "d_model", "h", "d_k", "d_v"}
    for symbol in named:
        assert find_entry(symbol).symbol == symbol


def test_shapes_are_written_in_symbols_that_can_be_looked_up() -> None:
    for entry in ENTRIES.values():
        if not entry.shape:
            continue
        assert re.fullmatch(r"\(.+\)", entry.shape)
        for symbol in set(re.findall(r"[a-z_]+", entry.shape)) - _ONLY_THERE:
            assert find_entry(symbol).symbol == symbol


def test_sentences_keep_the_voice() -> None:
    for entry in ENTRIES.values():
        said = re.sub(r"`[^`]*`", "", entry.sentence)
        assert entry.sentence.count("`") % 2 == 0
        assert not re.search(
            r"[!$<>]|\b(simpl[ey]|obvious|obviously|easy|easily|trivial|of course|basically)\b", said
        )
        assert not re.search(r"\bjust\b", said)
        assert len(re.findall(r"[.?](?=\s|$)", said)) <= 2, "a sentence, or two short ones"
        assert entry.sentence[0].isupper() or entry.sentence[0] in "`“"
        assert entry.term == entry.term.strip() and not re.search(r"[`$<>]", entry.term)
        words = set(fold(entry.sentence).split())
        assert len(words) >= 4 and words != set(fold(entry.term).split())
        assert not re.search(r"\b(color|behavior|normaliz)", entry.sentence), "British spelling"


def test_no_name_means_two_things() -> None:
    owners: dict[str, set[str]] = {}
    for key, entry in ENTRIES.items():
        for name in entry.names:
            owners.setdefault(fold(name).replace(" ", ""), set()).add(key)
    assert {name: keys for name, keys in owners.items() if len(keys) > 1} == {}
    assert "" not in owners


def test_the_two_chinese_names_are_as_long_or_two_words() -> None:
    for entry in ENTRIES.values():
        assert entry.zh_differ or len(entry.zh_hans) == len(entry.zh_hant)
        for name in (entry.zh_hans, entry.zh_hant):
            assert re.search(r"[\u4e00-\u9fff]", name), "written in Chinese characters"
        spelt = "".join(TRADITIONAL.get(character, character) for character in entry.zh_hans)
        assert (spelt != entry.zh_hant) == entry.zh_differ, "one word in two scripts, or two words"


def test_simplified_and_traditional_are_not_mixed() -> None:
    for entry in ENTRIES.values():
        mixed = {character for character in entry.zh_hans if character in set(TRADITIONAL.values())}
        assert not mixed, f"{entry.zh_hans} is meant in simplified characters"
        mixed = {character for character in entry.zh_hant if character in TRADITIONAL}
        assert not mixed, f"{entry.zh_hant} is meant in traditional characters"


def test_the_table_of_characters_is_one_to_one() -> None:
    assert len(TRADITIONAL) == len(set(TRADITIONAL.values())) == len(_PAIRS.split()) > 250
    assert not set(TRADITIONAL) & set(TRADITIONAL.values())


def test_rows_and_columns_are_told_apart() -> None:
    # The trap of the two usages: 行 is a row in one and a column in the other.
    both = find_entry("row")
    assert both is find_entry("column") and both.zh_differ
    assert both.zh_hans.startswith("行") and both.zh_hant.startswith("列") and "行" in both.note
    for entry in ENTRIES.values():
        if re.search(r"\brow\b", entry.term) and entry is not both:
            assert "行" in entry.zh_hans and "列" in entry.zh_hant and entry.zh_differ


def test_the_files_are_written_alike() -> None:
    for path in FOLDER.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("}\n") and "\\u" not in text, f"{path.name}: characters as they are"
        assert re.fullmatch(r"[0-9]{2}_[a-z_]+", path.stem) and json.loads(text)
