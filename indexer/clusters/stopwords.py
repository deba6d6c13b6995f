"""Words that say nothing of what a text is about, in the languages libraries mostly hold."""

from __future__ import annotations

_ENGLISH = """
a able about above according across added adding after again against al all almost already also although always am
among an and another any anyone anything april are aren't around as at august away back based be became because
become becomes been before began behind being below best better between big billion both but by call called came
can can't cannot case cent cents certain chapter clear close com come comes could couldn't course day days december
did didn't different do does doesn't doing don't done down due during each early eg either else end enough et etc
even ever every everyone everything expected fact far february few figure find first five following for form found
four friday from full further gave general get gets getting give given go goes going gone good got great had hadn't
half hard has hasn't have haven't having he he's held help her here hereby herein hereof hereto hereunder herself
high him himself his hold hope how however html http https i i'm i've ie if important in include included includes
including indeed instead into is isn't it it's its itself january july june just keep kept kind know known large
last late later latest least left less let like likely little long look looking lot made main major make makes
making man many march may me mean means might million monday month months more most mostly mr mrs ms much must my
myself near need needs never new next nine no none nor not nothing november now number october of off often old on
once one ones only open or order org other others our out over own page part past pdf people per percent perhaps
place point possible problem provide pursuant put quite rather real really recent reported result right said same
saturday saw say saying says second section see seem seemed seems seen september set seven several shall she she's
should show shown side since six small so some someone something soon start started statement still such sunday
table take taken takes taking tell ten than that that's the their them themselves then there there's therefore
thereof thereto these they they're thing things think third this those though thought thousand three through
thursday thus time times to today together told too took total towards trying tuesday turn two under unless until
up upon us use used uses using various very view want wanted wants was wasn't way ways we we're we've wednesday
week weeks well went were weren't what whatever when where whether which while who whole whom whose why will with
within without won't work world would wouldn't www year year-old years years-old yes yet you you're your yours
"""

_GERMAN = """
aber alle allem allen aller alles als also am an andere anderen anderer auch auf aus außerdem bei beim bereits bis
bzw da dabei dadurch dafür daher damit dann daran darauf darüber das dass davon dazu dein dem den denen denn der
deren des dessen deutlich die dies diese diesem diesen dieser dieses doch dort du durch ebenfalls ein eine einem
einen einer eines einige er erst es etwa für ganz gegen gemäß gibt haben hat hatte hatten hier hinter ich ihm ihn
ihnen ihr ihre ihrem ihren ihrer im immer in indem ins ist jede jedem jeden jeder jedes jedoch jetzt kann kein
keine keinen keiner können konnte mehr mein mindestens mit muss müssen nach nachdem nein nicht nichts noch nun nur
ob oder ohne sehr seien sein seine seinem seinen seiner seit sich sie sind so sobald sodass sofern sollen sollte
somit sondern sonst soweit sowie sowohl über um und uns unser unter viel viele vom von vor während war waren warum
was weder weil weiter weitere weiteren welche wenn wer werden wie wieder wir wird wurde wurden zu zum zur zwar zwei
zwischen prozent jahr jahre jahren januar februar märz juni juli oktober dezember
"""

_ROMANCE = """
alors ainsi après au aucun aussi autre autres aux avait avant avec avoir car ce cela ces cet cette ceux chaque
comme comment dans de depuis des deux donc dont du elle elles en encore entre est et été être eux fait il ils la le
les leur leurs lors lui mais même mêmes ne nos notre nous on ont ou où par pas pendant peu peut plus pour qu'il que
quel quelle qui sa sans se selon ses si son sont sous sur tous tout toute toutes très un une vers vos votre vous al
algo algunos antes así aunque cada como con contra cual cuando del desde donde dos durante el ella ellos entre era
eran es esa ese eso esta está estaba están este esto estos fue fueron ha había han hasta hay la las lo los más me
mediante mientras muy nada ni no nos nosotros nuestro o otra otros para pero poco por porque puede pueden pues que
quien se según ser si sido sin sino sobre solo son su sus también tanto te tiene tienen toda todas todo todos tras
tu un una unas uno unos y ya yo
"""

_CHINESE = """
的 了 和 是 在 我 有 他 这 中 大 来 上 国 个 到 说 们 为 子 与 也 你 对 生 能 而 那 得 于 着 下 自 之 年 过 发 后
作 里 就 不 都 一 一个 一些 一种 一样 一直 一定 一次 一下 一般 一切 我们 你们 他们 她们 它们 自己 大家 别人 这个
那个 这些 那些 这样 那样 这里 那里 这种 那种 这是 什么 怎么 怎样 如何 为什么 哪里 谁 多少 几 没有 不是 不会 不能
不要 不过 不同 不少 不仅 不断 可以 可能 应该 能够 必须 需要 已经 正在 曾经 将 将会 会 要 想 让 使 使得 被 把 给 向
从 由 由于 因为 因此 所以 但 但是 然而 虽然 尽管 如果 只要 只有 只是 除了 除非 而且 并且 并 或 或者 还 还是 还有 又
再 才 更 更加 最 很 非常 比较 十分 太 真 以 以及 以上 以下 以后 以前 以来 及 及其 等 等等 其 其中 其他 其它 其实
之一 之后 之前 之间 之中 同时 同样 另外 此外 此次 此 该 各 各种 各个 每 每个 某 某些 某个 所有 全部 全 许多 很多
大量 部分 大部分 多 少 左右 目前 现在 今天 昨天 明天 今年 去年 明年 当时 当 时 时候 时间 期间 日 月 日前 近日 近期
最近 最后 最终 首先 然后 接着 开始 结束 继续 进行 作为 成为 通过 根据 按照 关于 对于 至于 有关 相关 表示 认为 指出
称 介绍 记者 报道 消息 本报 讯 新浪 来源 编辑 网友 图片 进入 出现 发现 提供 方面 问题 情况 方式 方法 工作 第一 第二
第三 两 两个 三 四 五 六 七 八 九 十 百 千 万 亿 万元 亿元 元 名 位 人 人们 点 分 家 地 个人 看到 看 知道 觉得 希望
来说 就是 都是 也是 还要 起来 出来 下来 上来 过来 过去 之内 之外 内 外 前 左 右 上午 下午 晚上 时至 不得 应 应当 本
本条 如下 上述 下列 前款 达到 超过 约 超 近 共 据 了解 据悉 成功 主要 重要 特别 尤其 完全 当然 甚至 几乎 大约 似乎
终于 仍然 仍 依然 依旧 越来越 体育讯 娱乐讯 科技讯 财经讯 北京时间 我要评论 评论 转发 微博 组图 导语 点击 阅读
责任编辑 一起 一边 一方面 另一方面 与此同时
"""

STOPWORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_ROMANCE} {_CHINESE}".split())
