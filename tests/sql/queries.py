"""Random SELECTs. Their order is total, or the comparison takes them as multisets."""

import dataclasses


@dataclasses.dataclass
class Statement:
    """A text for both. `is_ordered`: rows come in the order of all columns. `is_loose`: which of two equal values of
    different types (1 and 1.0) is shown is not said by SQL. `is_several`: a text of several statements. `how` the gateway
    gets it: by SQL.EXEC, SQL.QUERY or a cursor; or it is a BEGIN, COMMIT or ROLLBACK that has a command of its own."""

    text: str
    is_ordered: bool = False
    is_loose: bool = False
    is_several: bool = False
    how: str = "exec"


class Queries:

    def __init__(self, draw, schema, expressions):
        self.draw, self.schema, self.make = draw, schema, expressions

    def any(self):
        return self.draw.choices(
            (
                self.simple, self.joined, self.aggregate, self.window, self.compound, self.cte, self.recursive, self.subqueries,
                self.wild, self.json
            ), (18, 20, 16, 9, 8, 6, 3, 10, 12, 4)
        )[0]()

    def items(self, scope, count=None):
        """A list of result columns, with types shown beside some."""
        items = []
        for number in range(count or self.draw.randrange(1, 5)):
            text, _ = self.make.some(scope)
            items.append(text + (f" AS c{number}" if self.make.chance(50) else ""))
            if self.make.chance(25):
                items.append(f"typeof({text})")
        return items

    def where(self, scope, percent=60):
        return f" WHERE {self.make.condition(scope, 2)}" if self.make.chance(percent) else ""

    def ordered(self, text, count, is_loose=False, limit_percent=25):
        """The statement with or without an order by all of its columns."""
        if self.make.chance(30):
            return Statement(text, False, is_loose)
        places = self.draw.sample(range(1, count + 1), count)
        order = ", ".join(
            str(place) + self.draw.choice(("", "", " DESC", " NULLS LAST", " DESC NULLS FIRST")) for place in places
        )
        limit = ""
        if self.make.chance(limit_percent):
            limit = f" LIMIT {self.draw.randrange(0, 12)}" + self.draw.choice(("", f" OFFSET {self.draw.randrange(0, 5)}"))
        return Statement(f"{text} ORDER BY {order}{limit}", True, is_loose or bool(limit))

    def simple(self):
        table = self.schema.readable()
        if self.make.chance(15):
            return Statement(f"SELECT * FROM {table.name}{self.where(table.columns)} ORDER BY id", not table.is_view)
        scope = table.scope()
        items = self.items(scope)
        distinct = "DISTINCT " if self.make.chance(15) else ""
        return self.ordered(
            f"SELECT {distinct}{', '.join(items)} FROM {table.name}{self.where(scope)}", len(items), bool(distinct)
        )

    def source(self):
        """FROM with joins, and what is in sight."""
        draw, make = self.draw, self.make
        first = self.schema.readable()
        text, scope = f"{first.name} AS a", first.scope("a")
        for alias in "bcd"[:draw.choice((1, 1, 1, 2, 2, 3))]:
            if make.chance(15):
                inner = self.schema.table()
                columns = draw.sample(inner.columns[1:], 1)
                text_of = f"(SELECT id, {columns[0][0]} FROM {inner.name} WHERE id < 20)"
                seen = [(f"{alias}.id", "int"), (f"{alias}.{columns[0][0]}", columns[0][1])]
            else:
                table = self.schema.readable()
                text_of, seen = table.name, table.scope(alias)
            kind = draw.choice(("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"))
            left = make.column("int", scope)
            right = draw.choice((f"{alias}.id", f"{alias}.id", make.column("int", seen)))
            # SQLite 3.40 loses rows of outer joins with more conditions.
            extra = f" AND {make.column('int', seen)} {draw.choice(('<', '>=', 'IS NOT'))} {make.literal('int')}" if kind in (
                "JOIN", "LEFT JOIN"
            ) and make.chance(30) else ""
            on = "" if kind == "CROSS JOIN" and make.chance(20) else f" ON {left} = {right}{extra}"
            text += f" {kind} {text_of} AS {alias}{on}"
            scope = scope + seen
        return text, scope

    def joined(self):
        source, scope = self.source()
        items = self.items(scope)
        return self.ordered(f"SELECT {', '.join(items)} FROM {source}{self.where(scope, 50)}", len(items), limit_percent=45)

    def aggregates(self, scope, count):
        make = self.make
        found = []
        for _ in range(count):
            number, real = make.column("int", scope), make.column("real", scope)
            value = make.some(scope, 1)[0]
            text = make.leaf("text", scope)
            call = self.draw.choice(
                (
                    "count(*)",
                    f"count({value})",
                    f"count(DISTINCT {value})",
                    f"sum({number})",
                    f"total({real})",
                    f"sum({real})",
                    f"avg({number} % 8)",
                    f"min({number})",
                    f"max({text})",
                    f"min({text})",
                    f"sum(length({text}))",
                    f"group_concat(DISTINCT {text} IS NULL)",
                    f"max({real}) - min({real})",
                    f"sum({number}) * 2",
                    f"sum(DISTINCT {number} % 5)",
                    f"count({text}) + 1",
                    f"json_array_length(json_group_array({number}))",
                )
            )
            if make.chance(20) and call.endswith(")") and "-" not in call.split("(")[0] and call.count("(") >= 1 and " - " not in call \
                    and not call.startswith("json_array_length"):
                call += f" FILTER (WHERE {make.condition(scope, 0)})"
            found.append(call)
        return found

    def aggregate(self):
        if self.make.chance(50):
            table = self.schema.readable()
            source, scope = table.name, table.scope()
        else:
            source, scope = self.source()
        calls = self.aggregates(scope, self.draw.randrange(1, 4))
        if self.make.chance(25):
            return Statement(f"SELECT {', '.join(calls)} FROM {source}{self.where(scope)}", is_loose=True)
        key = self.make.some(scope, 1)[0]
        having = f" HAVING {self.draw.choice(calls)} {self.draw.choice(('> 1', 'IS NOT NULL', '< 50'))}" if self.make.chance(
            30
        ) else ""
        return self.ordered(
            f"SELECT {', '.join([key, *calls])} FROM {source}{self.where(scope, 40)} GROUP BY 1{having}", 1 + len(calls), True
        )

    def window(self):
        make = self.make
        table = self.schema.table()
        scope = table.scope()
        order = f"{make.column('int', scope)}{self.draw.choice(('', ' DESC'))}, {table.name}.id"
        part = f"PARTITION BY {make.column(self.draw.choice(('int', 'text')), scope)} " if make.chance(50) else ""
        frame = self.draw.choice(
            (
                "", "", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING",
                " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
                " GROUPS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING"
            )
        )
        number, text, real = (make.column(kind, scope) for kind in ("int", "text", "real"))
        calls = self.draw.sample(
            (
                "row_number()", "rank()", "dense_rank()", "ntile(3)", f"lag({text})", f"lead({number}, 2, -1)",
                f"first_value({text})", f"last_value({number})", f"nth_value({number}, 2)", f"sum({number})", f"count(*)",
                f"avg({real})", f"group_concat({text} || '.', '+')", f"max({number})", "percent_rank()", f"total({real})",
                f"min({text})", f"count({number}) FILTER (WHERE {make.condition(scope, 0)})"
            ), self.draw.randrange(1, 4)
        )
        over = ", ".join(f"{call} OVER w AS w{place}" for place, call in enumerate(calls))
        return Statement(
            f"SELECT {table.name}.id, {over} FROM {table.name}{self.where(scope, 30)} "
            f"WINDOW w AS ({part}ORDER BY {order}{frame}) ORDER BY {table.name}.id", True
        )

    def core(self, count):
        table = self.schema.readable()
        scope = table.scope()
        items = [self.make.of(("int", "text", "real")[place % 3], scope, 1) for place in range(count)]
        if any("COLLATE" in item for item in items):
            # Then texts may be equal of which either may be shown.
            return self.core(count)
        return f"SELECT {', '.join(items)} FROM {table.name}{self.where(scope)}"

    def compound(self):
        count = self.draw.randrange(1, 4)
        text = self.core(count)
        for _ in range(self.draw.randrange(1, 4)):
            text += f" {self.draw.choice(('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'))} {self.core(count)}"
        return self.ordered(text, count, True)

    def cte(self):
        count = self.draw.randrange(1, 4)
        names = ", ".join(f"c{place}" for place in range(count))
        kinds = [(f"q.c{place}", ("int", "text", "real")[place % 3]) for place in range(count)]
        hint = self.draw.choice(("", "", "MATERIALIZED ", "NOT MATERIALIZED "))
        items = self.items(kinds)
        table = self.schema.readable()
        join = f" LEFT JOIN {table.name} AS j ON j.id = q.c0" if self.make.chance(40) else ""
        return self.ordered(
            f"WITH q({names}) AS {hint}({self.core(count)}) SELECT {', '.join(items)} FROM q{join}{self.where(kinds)}",
            len(items)
        )

    def recursive(self):
        last = self.draw.randrange(1, 30)
        table = self.schema.table()
        return self.draw.choice(
            (
                Statement(
                    f"WITH RECURSIVE r(n, f) AS (SELECT 0, 1 UNION ALL SELECT n + 1, f * 2 FROM r WHERE n < {last}) SELECT n, f, {self.make.of('int', [('n', 'int')], 2)} FROM r ORDER BY n",
                    True
                ),
                Statement(
                    f"WITH RECURSIVE r(i) AS (VALUES ({last % 5}) UNION SELECT {table.name}.id FROM {table.name}, r WHERE {table.name}.id BETWEEN r.i + 1 AND r.i + 3) SELECT i FROM r ORDER BY i",
                    True
                ),
                Statement(
                    f"WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f LIMIT {last}) SELECT a, typeof(a) FROM f ORDER BY a, b",
                    True
                ),
            )
        )

    def scalar(self, outer):
        """A subquery of one value."""
        inner = self.schema.readable()
        scope = inner.scope("s")
        where = f" WHERE {self.make.column('int', scope)} {self.draw.choice(('=', '<', '>='))} {self.make.column('int', outer)}" if self.make.chance(
            70
        ) else ""
        call = self.draw.choice(
            (
                "count(*)", f"sum({self.make.column('int', scope)})", f"max({self.make.column('int', scope)})",
                f"min({self.make.column('text', scope)})"
            )
        )
        return f"(SELECT {call} FROM {inner.name} AS s{where})"

    def subqueries(self):
        table = self.schema.readable()
        scope = table.scope("o")
        inner = self.schema.readable()
        seen = inner.scope("s")
        tests = (
            f"EXISTS (SELECT 1 FROM {inner.name} AS s WHERE {self.make.column('int', seen)} = {self.make.column('int', scope)})",
            f"NOT EXISTS (SELECT 1 FROM {inner.name} AS s WHERE s.id = {self.make.column('int', scope)} AND {self.make.condition(seen + scope, 0)})",
            f"{self.make.column('int', scope)} IN (SELECT {self.make.of('int', seen, 1)} FROM {inner.name} AS s{self.where(seen)})",
            f"{self.make.column('text', scope)} NOT IN (SELECT {self.make.column('text', seen)} FROM {inner.name} AS s WHERE s.id < 9)",
            f"{self.make.column('int', scope)} > {self.scalar(scope)}",
        )
        items = [*self.items(scope, 2), self.scalar(scope)]
        return self.ordered(f"SELECT {', '.join(items)} FROM {table.name} AS o WHERE {self.draw.choice(tests)}", len(items))

    def wild(self):
        return Statement(
            "SELECT " + ", ".join(self.make.wild(self.draw.randrange(1, 4)) for _ in range(self.draw.randrange(1, 5)))
        )

    def json(self):
        table = self.schema.table()
        number, text = self.make.column("int", table.scope()), self.make.column("text", table.scope())
        return self.draw.choice(
            (
                Statement(
                    f"SELECT {table.name}.id, j.key, j.value, j.type FROM {table.name}, json_each(json_array({number}, {text})) AS j ORDER BY 1, 2",
                    True
                ),
                Statement(
                    "SELECT fullkey, type, atom FROM json_tree('{\"a\":[1,2,{\"b\":null}],\"c\":\"x\"}') ORDER BY 1", True
                ),
                Statement(f"SELECT json_group_array(n) FROM (SELECT {number} AS n FROM {table.name} ORDER BY id)"),
                Statement(f"SELECT json_group_object(id, t) FROM (SELECT id, {text} AS t FROM {table.name} ORDER BY id)"),
                Statement(
                    f"SELECT json_extract(json_object('a', {number}, 'b', json_array({text})), '$.b[0]', '$.a') FROM {table.name} ORDER BY id",
                    True
                ),
            )
        )
