"""Random statements that change something, texts of several of them, and errors on purpose."""

from queries import Statement


class Changes:

    def __init__(self, draw, schema, expressions, queries):
        self.draw, self.schema, self.make, self.queries = draw, schema, expressions, queries

    def any(self):
        return self.draw.choices(
            (
                self.insert, self.upsert, self.replace, self.insert_select, self.update, self.update_from, self.delete,
                self.several, self.definition, self.error
            ), (22, 9, 7, 6, 16, 6, 7, 9, 8, 10)
        )[0]()

    def key(self):
        return self.draw.randrange(1, 60)

    def values(self, table, columns):
        return ", ".join(str(self.key()) if name == "id" else self.make.of(kind, [], 1) for name, kind in columns)

    def columns(self, table):
        columns = [column for column in table.columns[1:] if self.make.chance(85)] or table.columns[1:2]
        return ([table.columns[0]] if self.make.chance(70) else []) + columns

    def returning(self, table):
        if not self.make.chance(20):
            return ""
        # SQLite 3.40 takes no column of a table without rowids for NULL there.
        while "NULL" in (text := self.make.some(table.columns, 1)[0]):
            pass
        return f" RETURNING id, {text} AS r"

    def insert(self, word="INSERT"):
        table = self.schema.table()
        if self.schema.views and self.make.chance(4):
            table = self.draw.choice(self.schema.views)
        columns = self.columns(table)
        rows = ", ".join(f"({self.values(table, columns)})" for _ in range(self.draw.choice((1, 1, 1, 2, 4))))
        names = ", ".join(name for name, _ in columns)
        return Statement(f"{word} INTO {table.name}({names}) VALUES {rows}{self.returning(table)}")

    def replace(self):
        # Of OR FAIL absent stays where a failed command leaves absent, so it has no comparison.
        return self.insert(self.draw.choice(("REPLACE", "INSERT OR REPLACE", "INSERT OR IGNORE", "INSERT OR ABORT")))

    def upsert(self):
        table = self.schema.table()
        columns = [table.columns[0], *table.columns[1:]]
        name, kind = self.draw.choice(table.columns[1:])
        scope = [
            *((column, its) for column, its in table.columns), *((f"excluded.{column}", its) for column, its in table.columns)
        ]
        target = self.draw.choice(("(id)", "(id)", "", f"({name})"))
        action = self.draw.choice(
            (
                "DO NOTHING", f"DO UPDATE SET {name} = {self.make.of(kind, scope, 1)}",
                f"DO UPDATE SET {name} = excluded.{name} WHERE {self.make.condition(scope, 0)}"
            )
        )
        return Statement(
            f"INSERT INTO {table.name}({', '.join(column for column, _ in columns)}) VALUES ({self.values(table, columns)}) "
            f"ON CONFLICT {target} {action}{self.returning(table)}"
        )

    def insert_select(self):
        table, source = self.schema.table(), self.schema.readable()
        scope = source.scope("s")
        columns = table.columns[1:]
        items = ", ".join(self.make.of(kind, scope, 1) for _, kind in columns)
        ignore = self.draw.choice(("", " OR IGNORE"))
        return Statement(
            f"INSERT{ignore} INTO {table.name}(id, {', '.join(name for name, _ in columns)}) SELECT s.id + {self.draw.randrange(0, 200)}, {items} "
            f"FROM {source.name} AS s WHERE s.id BETWEEN {self.key()} AND {self.key()} ORDER BY s.id LIMIT 6"
        )

    def update(self):
        table = self.schema.table()
        changed = self.draw.sample(table.columns[1:], self.draw.randrange(1, min(3, len(table.columns))))
        scope = table.columns + table.generated
        setters = ", ".join(f"{name} = {self.make.of(kind, scope, 1)}" for name, kind in changed)
        # One row, where the order would tell which of several comes first.
        if self.make.chance(60):
            return Statement(
                f"UPDATE {self.draw.choice(('', '', 'OR IGNORE ', 'OR REPLACE ', 'OR ROLLBACK '))}{table.name} SET {setters} WHERE id = {self.key()}{self.returning(table)}"
            )
        return Statement(f"UPDATE {table.name} SET {setters} WHERE {self.make.condition(scope, 1)}{self.returning(table)}")

    def update_from(self):
        table, source = self.schema.table(), self.schema.table()
        name, kind = self.draw.choice(table.columns[1:])
        scope = table.scope() + source.scope("s")
        if self.make.chance(30):
            return Statement(
                f"UPDATE {table.name} SET ({name}, id) = (SELECT {self.make.of(kind, source.columns, 0)}, {table.name}.id FROM {source.name} ORDER BY id LIMIT 1) WHERE id = {self.key()}"
            )
        return Statement(
            f"UPDATE {table.name} SET {name} = {self.make.of(kind, scope, 1)} FROM {source.name} AS s WHERE s.id = {table.name}.id AND {self.make.condition(scope, 0)}"
        )

    def delete(self):
        table = self.schema.table()
        where = f"id = {self.key()}" if self.make.chance(60) else f"id > 20 AND {self.make.condition(table.columns, 1)}"
        return Statement(f"DELETE FROM {table.name} WHERE {where}{self.returning(table)}")

    def plain(self):
        """A change without rows."""
        while True:
            statement = self.draw.choice((self.insert, self.update, self.delete, self.upsert, self.insert_select))()
            if "RETURNING" not in statement.text and "OR ROLLBACK" not in statement.text:
                return statement.text

    def several(self):
        """A text of several statements, with savepoints; all of it or absent."""
        parts, open_names = [], []
        for _ in range(self.draw.randrange(2, 6)):
            choice = self.draw.randrange(6)
            if choice == 0:
                open_names.append(f"s{len(open_names)}")
                parts.append(f"SAVEPOINT {open_names[-1]}")
            elif choice == 1 and open_names:
                parts.append(f"ROLLBACK TO {self.draw.choice(open_names)}")
                name = parts[-1].split()[-1]
                del open_names[open_names.index(name) + 1:]
            elif choice == 2 and open_names:
                parts.append(f"RELEASE {open_names.pop()}")
            else:
                parts.append(self.plain())
        parts += [f"RELEASE {name}" for name in reversed(open_names)]
        if self.make.chance(60):
            query = self.queries.any()
            return Statement("; ".join([*parts, query.text]), query.is_ordered, query.is_loose, True)
        return Statement("; ".join(parts), is_several=True)

    def definition(self):
        schema = self.schema
        return Statement(
            self.draw.choices(
                (
                    schema.create_index, schema.create_view, schema.create_trigger, schema.alter, schema.drop,
                    schema.create_table, lambda: "ANALYZE", lambda: "REINDEX", lambda: "VACUUM"
                ), (20, 10, 12, 16, 12, 3 if len(schema.tables) < 6 else 0, 2, 2, 1)
            )[0]()
        )

    def error(self):
        table = self.schema.table()
        name, other = table.name, table.columns[-1][0]
        return Statement(
            self.draw.choice(
                (
                    f"SELEC * FROM {name}",
                    f"SELECT * FROM {name} WHERE;",
                    f"SELECT absent FROM {name}",
                    f"SELECT 1 FROM {name} WHERE 'A' IS NULL AND absent IS 5",
                    "SELECT * FROM nowhere",
                    f"SELECT {name}.absent FROM {name}",
                    f"INSERT INTO {name}(id, absent) VALUES (1, 2)",
                    f"INSERT INTO {name}(id) VALUES (1, 2)",
                    f"INSERT INTO {name}(id) VALUES ('text')",
                    f"CREATE TABLE {name}(x)",
                    f"SELECT abs(1, 2) FROM {name}",
                    "SELECT nofunction(1)",
                    f"SELECT id FROM {name} GROUP BY count(*)",
                    f"SELECT sum(count(*)) FROM {name}",
                    f"SELECT id FROM {name} AS a, {name} AS b",
                    f"SELECT 1 UNION SELECT 1, 2",
                    f"SELECT id FROM {name} ORDER BY 9",
                    f"DROP TABLE nowhere",
                    "DROP INDEX absent",
                    f"UPDATE {name} SET absent = 1",
                    f"SELECT row_number() FROM {name}",
                    f"SELECT sum(id) OVER nowindow FROM {name}",
                    f"DELETE FROM {name} WHERE absent = 1",
                    f"CREATE INDEX {self.schema.name('x')} ON {name}(absent)",
                    f"SELECT 9223372036854775807 + id, abs(-9223372036854775808) FROM {name} LIMIT 1",
                    f"SELECT json('{{') FROM {name}",
                    "SELECT json_extract('{\"a\":1}', 'a')",
                    f"ALTER TABLE {name} DROP COLUMN id",
                    f"ALTER TABLE {name} ADD COLUMN id INT",
                    f"ALTER TABLE nowhere RENAME TO {name}",
                    f"INSERT INTO {name} SELECT 1",
                    f"SELECT (SELECT 1, 2)",
                    f"SELECT {other} FROM {name} WHERE id IN (SELECT 1, 2)",
                    f"CREATE VIEW {name} AS SELECT 1",
                    "ROLLBACK TO absent",
                    "RELEASE absent",
                    f"SELECT * FROM {name} LIMIT 'x'",
                    f"SELECT CAST(1 AS) FROM {name}",
                    f"SELECT 1 FROM {name} HAVING;",
                    f"SELECT count(*) FILTER (WHERE 1) OVER () FROM {name} WHERE count(*) > 1",
                    f"WITH q AS (SELECT 1), q AS (SELECT 2) SELECT * FROM q",
                    "SELECT 1 2 3",
                    "SELECT round()",
                    f"CREATE TRIGGER {self.schema.name('x')} AFTER INSERT ON nowhere BEGIN SELECT 1; END",
                    f"CREATE UNIQUE INDEX {self.schema.name('x')} ON {name}({other})",
                    f"INSERT INTO {name}({other}) VALUES (NULL) ON CONFLICT({other}, id) DO NOTHING",
                    "SELECT substr('a')",
                    "VALUES (1), (2, 3)",
                    "SELECT * FROM json_each('[')",
                    f"SELECT max() FROM {name}",
                    "SELECT 1 LIMIT 1 UNION SELECT 2",
                    f"SELECT typeof(sum(9223372036854775807)) FROM (SELECT 1 UNION ALL SELECT 2)",
                    "CREATE TABLE sqlite_x(a)",
                    f"CREATE TABLE {self.schema.name('x')}(a, a)",
                    f"CREATE TABLE {self.schema.name('x')}(a AS (a))",
                    f"CREATE TABLE {self.schema.name('x')}(a NOTYPE) STRICT",
                )
            )
        )

    def look(self):
        """What is there: rows, definitions, whether it is whole."""
        table = self.schema.table()
        return self.draw.choice(
            (
                Statement(f"SELECT * FROM {table.name} ORDER BY id", True),
                Statement("SELECT * FROM log ORDER BY rowid", True),
                Statement(
                    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name",
                    True
                ),
                Statement(f"PRAGMA table_xinfo({table.name})"),
                Statement("PRAGMA integrity_check"),
                Statement("PRAGMA foreign_key_check"),
                Statement(f"PRAGMA foreign_key_list({table.name})"),
                Statement(f"SELECT name, origin, partial FROM pragma_index_list('{table.name}') ORDER BY 1", True),
            )
        )

    def transaction(self):
        """Statements of a transaction that is open from one request to the next."""
        yield Statement("BEGIN", how="begin")
        open_names = []
        for _ in range(self.draw.randrange(2, 9)):
            choice = self.draw.randrange(8)
            if choice == 0:
                open_names.append(f"s{len(open_names)}")
                yield Statement(f"SAVEPOINT {open_names[-1]}")
            elif choice == 1 and open_names:
                name = self.draw.choice(open_names)
                del open_names[open_names.index(name) + 1:]
                yield Statement(f"ROLLBACK TO {name}")
            elif choice == 2 and open_names:
                yield Statement(f"RELEASE {open_names.pop()}")
            elif choice < 5:
                yield self.queries.any()
            elif choice == 5:
                yield self.look()
            else:
                statement = self.any()
                # The end of the transaction has commands of its own, and a text is no transaction in another.
                if not statement.is_several and "OR ROLLBACK" not in statement.text:
                    yield statement
        if self.make.chance(75):
            yield Statement("COMMIT", how="commit")
            # One whose COMMIT was refused is still open.
            yield Statement("ROLLBACK", how="end")
        else:
            yield Statement("ROLLBACK", how="rollback")
