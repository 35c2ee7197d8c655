"""The tables of a world: what the generator believes to be there. A statement that fails may prove it wrong, which does no harm."""

import dataclasses


@dataclasses.dataclass
class Table:
    """A table or view with its columns by kind. `columns` are those that a statement may write."""

    name: str
    columns: list
    generated: list = dataclasses.field(default_factory=list)
    key: str = "id"
    is_view: bool = False

    def scope(self, alias=None):
        """(expression, kind) of all columns."""
        prefix = f"{alias or self.name}."
        return [(prefix + name, kind) for name, kind in [*self.columns, *self.generated]]


TYPES = {
    "int": ("INTEGER", "INT", "BIGINT"), "real": ("REAL", "DOUBLE"), "text": ("TEXT", "VARCHAR(20)", "TEXT COLLATE BINARY"),
    "any": ("", "BLOB")
}


class Schema:
    """Makes tables, indexes, views and triggers, and remembers them."""

    def __init__(self, draw, expressions):
        self.draw, self.expressions = draw, expressions
        self.tables, self.views, self.indexes, self.triggers = [], [], [], []
        self.names = 0

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def table(self):
        return self.draw.choice(self.tables)

    def readable(self):
        return self.draw.choice(self.tables + self.tables + self.views)

    def create_table(self):
        draw, make = self.draw, self.expressions
        table = Table(self.name("t"), [("id", "int")])
        is_strict, has_rowid = make.chance(12), make.chance(80)
        parts = ["id INTEGER PRIMARY KEY" + (" AUTOINCREMENT" if has_rowid and make.chance(15) else "")]
        for number in range(draw.randrange(2, 6)):
            kind = draw.choice(("int", "int", "real", "text", "text", "any"))
            declared = {"any": "ANY", "text": "TEXT", "real": "REAL", "int": "INT"
                        }[kind] if is_strict else draw.choice(TYPES[kind])
            name = f"{kind[0]}{number}"
            extra = draw.choice(
                (
                    "", "", "", "", " UNIQUE", " NOT NULL", f" DEFAULT {make.literal(kind)}", f" CHECK ({name} IS NOT 7)",
                    " NOT NULL DEFAULT 3"
                )
            )
            table.columns.append((name, kind))
            parts.append(f"{name} {declared}{extra}")
        scope = [(name, kind) for name, kind in table.columns]
        if make.chance(30):
            kind = draw.choice(("int", "text"))
            name = "g" + kind[0]
            table.generated.append((name, kind))
            declared = {"int": "INT", "text": "TEXT"}[kind]
            parts.append(
                f"{name} {declared} GENERATED ALWAYS AS ({self.computed(kind, scope)}) {draw.choice(('STORED', 'VIRTUAL'))}"
            )
        if make.chance(25):
            columns = draw.sample(table.columns[1:], min(2, len(table.columns) - 1))
            parts.append(f"UNIQUE ({', '.join(name for name, _ in columns)})")
        if make.chance(20):
            parts.append(f"CONSTRAINT c{self.names} CHECK ({make.condition(scope, 0)} OR 1)")
        if self.tables and make.chance(40):
            parent = self.table()
            name = "p" + parent.name
            table.columns.append((name, "int"))
            action = draw.choice(
                ("", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON UPDATE CASCADE", " DEFERRABLE INITIALLY DEFERRED")
            )
            parts.insert(len(table.columns) - 1 + len(table.generated), f"{name} INT REFERENCES {parent.name}(id){action}")
            if table.generated:
                # The order of columns is that of the text.
                table.columns.remove((name, "int"))
                parts = [part for part in parts if not part.startswith(name + " ")]
        options = [word for word, wanted in (("WITHOUT ROWID", not has_rowid), ("STRICT", is_strict)) if wanted]
        self.tables.append(table)
        return f"CREATE TABLE {table.name}({', '.join(parts)}) {', '.join(options)}".strip()

    def computed(self, kind, scope):
        """The expression of a generated column, without JSON, which SQLite 3.40 marks as such when it should not."""
        while "json" in (text := self.expressions.of(kind, scope, 1)):
            pass
        return text

    def create_index(self):
        draw, make = self.draw, self.expressions
        table = self.table()
        scope = [(name, kind) for name, kind in table.columns]
        columns = [name for name, _ in draw.sample(scope, draw.randrange(1, min(3, len(scope)) + 1))]
        terms = [name + draw.choice(("", " DESC", " COLLATE NOCASE", "")) for name in columns]
        if make.chance(25):
            terms.append(
                draw.choice((f"abs({columns[0]})", f"lower({columns[0]})", f"{columns[0]} % 3", f"length({columns[-1]})"))
            )
        where = f" WHERE {draw.choice(columns)} {draw.choice(('IS NOT NULL', '> 5', '= 3'))}" if make.chance(25) else ""
        self.indexes.append(self.name("i"))
        return f"CREATE {draw.choice(('', '', '', 'UNIQUE '))}INDEX {self.indexes[-1]} ON {table.name}({', '.join(terms)}){where}"

    def create_view(self):
        draw, make = self.draw, self.expressions
        table = self.table()
        kept = draw.sample(table.columns[1:], draw.randrange(1, len(table.columns)))
        view = Table(self.name("v"), [("id", "int"), *kept, ("x", "int")], is_view=True)
        self.views.append(view)
        # Plain, since SQLite 3.40 loses rows of outer joins with views that have LIKE or constants.
        where = f" WHERE {make.column('int', table.columns)} {draw.choice(('<', '>=', 'IS NOT'))} {make.literal('int')}" if make.chance(
            50
        ) else ""
        items = ", ".join(["id", *(name for name, _ in kept), f"id + {make.of('int', table.columns, 1)}"])
        return f"CREATE VIEW {view.name}({', '.join(name for name, _ in view.columns)}) AS SELECT {items} FROM {table.name}{where}"

    def create_trigger(self):
        draw, make = self.draw, self.expressions
        name = self.name("tr")
        self.triggers.append(name)
        if self.views and make.chance(30):
            view, table = draw.choice(self.views), self.table()
            return (
                f"CREATE TRIGGER {name} INSTEAD OF {draw.choice(('INSERT', 'UPDATE'))} ON {view.name} BEGIN "
                f"UPDATE {table.name} SET {self.assignment(table, [('new.x', 'int')])} WHERE id = new.id; END"
            )
        table, other = self.table(), self.table()
        event = draw.choice(("INSERT", "UPDATE", "DELETE", f"UPDATE OF {table.columns[-1][0]}"))
        row = "old" if event == "DELETE" else "new"
        scope = table.scope(row)
        when = f" WHEN {make.condition(scope, 1)}" if make.chance(40) else ""
        action = draw.choice(
            (
                f"INSERT INTO log(what, a, b) VALUES ('{name}', {make.of('int', scope, 1)}, {make.of('text', scope, 1)})",
                f"INSERT INTO log(what, a) SELECT '{name}', count(*) FROM {other.name}",
                f"UPDATE {other.name} SET {self.assignment(other, scope)} WHERE id = {row}.id + 1",
                f"DELETE FROM log WHERE a = {make.of('int', scope, 1)}",
                f"SELECT RAISE(ABORT, 'raised by {name}') WHERE {row}.id % 13 = 5",
                f"SELECT RAISE(IGNORE) WHERE {row}.id % 11 = 4",
            )
        )
        return f"CREATE TRIGGER {name} {draw.choice(('BEFORE', 'AFTER', 'AFTER'))} {event} ON {table.name}{when} BEGIN {action}; END"

    def assignment(self, table, scope):
        name, kind = self.draw.choice(table.columns[1:])
        return f"{name} = {self.expressions.of(kind, scope, 1)}"

    def alter(self):
        draw, make = self.draw, self.expressions
        table = self.table()
        choice = draw.randrange(5)
        if choice == 0:
            kind = draw.choice(("int", "text"))
            name = self.name("n")
            table.columns.append((name, kind))
            default = "" if make.chance(50) else f" DEFAULT {make.literal(kind)}"
            if table.generated:
                table.columns.pop()
            return f"ALTER TABLE {table.name} ADD COLUMN {name} {draw.choice(TYPES[kind])}{default}"
        if choice == 1 and len(table.columns) > 3:
            place = draw.randrange(1, len(table.columns))
            old, kind = table.columns[place]
            table.columns[place] = (self.name("r"), kind)
            return f"ALTER TABLE {table.name} RENAME COLUMN {old} TO {table.columns[place][0]}"
        if choice == 2:
            old, table.name = table.name, self.name("t")
            return f"ALTER TABLE {old} RENAME TO {table.name}"
        if choice == 3 and len(table.columns) > 4:
            # May fail, since an index or a view may need it.
            return f"ALTER TABLE {table.name} DROP COLUMN {table.columns[-1][0]}"
        return self.create_index()

    def drop(self):
        draw = self.draw
        for kind, names in draw.sample([("INDEX", self.indexes), ("TRIGGER", self.triggers), ("VIEW", self.views)], 3):
            if names:
                gone = names.pop(draw.randrange(len(names)))
                return f"DROP {kind} {gone.name if kind == 'VIEW' else gone}"
        return "DROP TABLE IF EXISTS absent"
