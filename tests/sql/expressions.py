"""Random expressions over the columns that are in sight.

Values in tables are tame: reals are multiples of a quarter, so that sums are exact in any order and any version prints them
alike, and no integer equals a real. The edges of all types meet in `wild`, which stands in statements without tables.
"""

WORDS = (
    "", "a", "A", "b", "abc", "Abc", "zebra", "x y", "1", "12", "3.5", "-7", "o''clock", "ä", "日本", "a,b", "50%", "under_score",
    "0x10"
)
PATTERNS = ("a%", "%b%", "_bc", "%", "A_c", "%''%", "ä", "1%")
GLOBS = ("a*", "*b*", "?bc", "[a-c]*", "*", "[^a]*")
BLOBS = ("x''", "x'61'", "x'00ff'", "x'0102'", "x'616263'")
WILD = (
    "0", "1", "-1", "2", "10", "9223372036854775807", "-9223372036854775807-1", "9223372036854775806", "4294967296", "0.5",
    "-0.25", "1e308", "-1e308", "1e-300", "9007199254740993", "1e999", "NULL", "''", "'abc'", "'12abc'", "' 7 '", "'1e5'",
    "'-3.5x'", "'9223372036854775808'", "'0x1f'", "x''", "x'61ff'", "x'313233'", "'ä日本'", "TRUE", "FALSE", "0x7fffffffffffffff"
)
# Of them, what every version prints alike. Debian's program takes no blob for text in LIKE.
PLAIN = tuple(value for value in WILD if value != "1e999" and not value.startswith("x'"))
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT")
OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "<<", ">>", "AND", "OR", *COMPARISONS)
KINDS = ("int", "real", "text", "any")


class Expressions:
    """Expressions as text. A scope is a list of (expression, kind); `subquery` makes a scalar one or answers None."""

    def __init__(self, draw):
        self.draw = draw

    def chance(self, percent):
        return self.draw.random() * 100 < percent

    def literal(self, kind):
        draw = self.draw
        if self.chance(6):
            return "NULL"
        if kind == "int":
            return str(draw.choice((0, 1, 2, 3, 5, 7, 10, -1, -4, 100, draw.randrange(-50, 1000))))
        if kind == "real":
            return str(draw.randrange(-40, 200) + draw.choice((0.25, 0.5, 0.75)))
        if kind == "text":
            return f"'{draw.choice(WORDS)}'"
        return draw.choice((self.literal("int"), self.literal("real"), self.literal("text"), draw.choice(BLOBS)))

    def column(self, kind, scope):
        fitting = [name for name, its in scope if its == kind]
        return self.draw.choice(fitting) if fitting else self.literal(kind)

    def leaf(self, kind, scope):
        return self.column(kind, scope) if self.chance(75) else self.literal(kind)

    def some(self, scope, depth=2):
        """An expression of a random kind, with its kind."""
        kind = self.draw.choice(KINDS)
        return self.of(kind, scope, depth), kind

    def of(self, kind, scope, depth=2):
        if depth <= 0 or self.chance(25):
            return self.leaf(kind, scope)
        if self.chance(15):
            return self.general(kind, scope, depth - 1)
        return getattr(self, kind)(scope, depth - 1)

    def general(self, kind, scope, depth):
        """What works for any kind."""
        one, two = self.of(kind, scope, depth), self.of(kind, scope, depth)
        return self.draw.choice(
            (
                f"coalesce({one}, {two})",
                f"ifnull({one}, {two})",
                f"nullif({one}, {two})",
                f"CASE WHEN {self.condition(scope, depth)} THEN {one} ELSE {two} END",
                f"iif({self.condition(scope, depth)}, {one}, {two})",
                f"CASE {self.leaf('int', scope)} WHEN {self.literal('int')} THEN {one} WHEN {self.literal('int')} THEN {two} END",
                f"({one})",
            )
        )

    def int(self, scope, depth):
        one, two = self.of("int", scope, depth), self.of("int", scope, depth)
        text = self.of("text", scope, depth)
        return self.draw.choice(
            (
                f"({one} + {two})",
                f"({one} - {two})",
                f"({one} * 3)",
                f"({one} / {two})",
                f"({one} % 7)",
                f"-({one})",
                f"abs({one})",
                f"({one} & {two})",
                f"({one} | 5)",
                f"({one} << 2)",
                f"({one} >> 1)",
                f"~({one})",
                f"length({text})",
                f"instr({text}, 'b')",
                f"unicode({text})",
                f"CAST({text} AS INTEGER)",
                f"({self.condition(scope, depth)})",
                f"min({one}, {two})",
                f"max({one}, {two}, 3)",
                f"sign({one})",
                f"json_array_length(json_array({one}, {two}))",
                f"json_extract(json_object('a', {one}), '$.a')",
                f"(json_array({one}, {two}) ->> 1)",
            )
        )

    def real(self, scope, depth):
        one, two = self.leaf("real", scope), self.leaf("real", scope)
        return self.draw.choice(
            (
                f"({one} + {two})",
                f"({one} - {two})",
                f"({one} * 2)",
                f"({one} / 2)",
                f"-({one})",
                f"abs({one})",
                f"CAST({one} AS REAL)",
                f"round({one})",
                f"floor({one}) + 0.25",
                f"ceil({one}) + 0.5",
                f"min({one}, {two})",
                f"max({one}, {two})",
                f"({one} + {self.leaf('int', scope)})",
                f"trunc({one}) - 0.75",
            )
        )

    def text(self, scope, depth):
        one, two = self.of("text", scope, depth), self.of("text", scope, depth)
        number = self.of("int", scope, depth)
        return self.draw.choice(
            (
                f"({one} || {two})",
                f"upper({one})",
                f"lower({one})",
                f"substr({one}, {self.draw.randrange(-3, 4)}, 2)",
                f"trim({one})",
                f"ltrim({one}, 'a')",
                f"replace({one}, 'b', 'BB')",
                f"hex({one})",
                f"quote({one})",
                f"CAST({number} AS TEXT)",
                f"printf('%d-%s', {number}, {one})",
                f"typeof({self.some(scope, depth)[0]})",
                f"format('%05d|%-4s|%x', {number}, {one}, 255)",
                f"json_array({number}, {one})",
                f"json_object('k', {one}, 'n', {number})",
                f"json_quote({one})",
                f"json_type(json_array({one}), '$[0]')",
                f"json_set('{{\"a\":1}}', '$.b', {one})",
                f"json_extract(json_array({one}, {two}), '$[1]')",
                f"(json_object('a', {one}) -> 'a')",
                f"substr({one}, 2)",
                f"char(65 + coalesce(abs({number}), 0) % 26)",
                f"rtrim({one}, 'c ')",
                f"date('2024-02-28', {number} % 900 || ' days')",
                f"strftime('%Y-%m-%d %H', {number} % 1000000, 'unixepoch')",
                f"hex(CAST({one} AS BLOB))",
                f"json_remove(json_array({one}, {two}), '$[0]')",
                f"json_patch(json_object('a', {one}), json_object('b', {number}))",
                f"json_insert('[1,2]', '$[#]', {number})",
            )
        )

    def any(self, scope, depth):
        return self.some(scope, depth)[0]

    def condition(self, scope, depth=1):
        draw = self.draw
        if depth > 0 and self.chance(35):
            one, two = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            return draw.choice((f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})", f"({one}) IS NOT TRUE"))
        kind = draw.choice(KINDS)
        one, two = self.of(kind, scope, depth), self.of(kind, scope, depth)
        text = self.leaf("text", scope)
        return draw.choice(
            (
                f"{one} {draw.choice(COMPARISONS)} {two}",
                f"{one} {draw.choice(COMPARISONS)} {self.literal(kind)}",
                f"{one} BETWEEN {self.literal(kind)} AND {self.literal(kind)}",
                f"{one} IS NULL",
                f"{one} NOTNULL",
                f"{one} {draw.choice(('IN', 'NOT IN'))} ({self.literal(kind)}, {self.literal(kind)}, {two})",
                f"{text} LIKE '{draw.choice(PATTERNS)}'",
                f"{text} NOT LIKE '{draw.choice(PATTERNS)}'",
                f"{text} GLOB '{draw.choice(GLOBS)}'",
                f"{text} LIKE '50!%' ESCAPE '!'",
                f"{text} = {self.leaf('text', scope)} COLLATE NOCASE",
                f"({one}, 1) < ({two}, 2)",
                f"{one} IS DISTINCT FROM {two}",
            )
        )

    def wild(self, depth=2):
        """An expression without columns over the edges of all types."""
        draw = self.draw
        if depth <= 0 or self.chance(20):
            return f"({draw.choice(WILD)})"
        one, two = self.wild(depth - 1), self.wild(depth - 1)
        if self.chance(50):
            return f"({one} {draw.choice(OPERATORS)} {two})"
        if self.chance(40):
            return self.wild_text()
        return draw.choice(
            (
                f"typeof({one})",
                f"CAST({one} AS {draw.choice(('INTEGER', 'REAL', 'NUMERIC'))})",
                f"-({one})",
                f"+({one})",
                f"~({one})",
                f"NOT ({one})",
                f"abs({one})",
                f"quote(typeof({one}))",
                f"coalesce({one}, {two})",
                f"nullif({one}, {two})",
                f"min({one}, {two})",
                f"max({one}, {two})",
                f"{one} IN ({two}, 1, 'abc')",
                f"{one} BETWEEN {two} AND 10",
                f"sign({one})",
                f"round({one}, 2)",
                f"iif({one}, 1, 2)",
                f"{one} IS {two}",
                f"CASE {one} WHEN {two} THEN 'same' ELSE 'other' END",
                f"likely({one})",
                f"sqrt({one})",
                f"mod({one}, {two})",
                f"floor({one})",
                f"printf('%s', typeof({one}))",
                f"json_extract('[1,{{\"a\":null}},\"x\"]', '$[' || 2 || ']')",
            )
        )

    def wild_text(self):
        """What makes text of a value. Versions have different digits of a computed real there, so it is no computed one."""
        one, two = (f"({self.draw.choice(PLAIN)})" for _ in range(2))
        return self.draw.choice(
            (
                f"{one} || {two}",
                f"CAST({one} AS TEXT)",
                f"CAST({one} AS BLOB)",
                f"length({one})",
                f"hex({one})",
                f"quote({one})",
                f"instr({one}, {two})",
                f"substr({one}, 2, 3)",
                f"substr({one}, -2)",
                f"upper({one})",
                f"unicode({one})",
                f"{one} LIKE {two}",
                f"{one} GLOB {two}",
                f"trim({one})",
                f"json_type(json_array({one}))",
                f"replace({one}, 'b', {two})",
                f"printf('%d', {one})",
                f"strftime('%s', {one})",
                f"date({one})",
                f"hex({self.draw.choice(BLOBS)})",
                f"printf('%5s|%-8s|', {one}, {two})",
                f"{one} COLLATE NOCASE = {two}",
            )
        )
