// The flows of libsql-client-go, the client of libSQL over HTTP, behind database/sql. The server is named by UPSTASH_REDIS_REST_URL and
// UPSTASH_REDIS_REST_TOKEN.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net/http"
	"os"

	"github.com/tursodatabase/libsql-client-go/libsql"
)

const schema = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB)"

func main() {
	if !runAll([]flow{
		{"values", values}, {"prepared statements", preparedStatements}, {"transactions", transactions}, {"errors", errorsHeard},
		{"many rows", manyRows},
	}) {
		os.Exit(1)
	}
}

// rest asks the server for a command by HTTP.
func rest(ctx context.Context, path string) {
	request := must(http.NewRequestWithContext(ctx, "GET", os.Getenv("UPSTASH_REDIS_REST_URL")+path, nil))
	request.Header.Set("Authorization", "Bearer "+os.Getenv("UPSTASH_REDIS_REST_TOKEN"))
	must(http.DefaultClient.Do(request)).Body.Close()
}

// open is the database under a key, which is empty.
func open(ctx context.Context, key, token string) *sql.DB {
	rest(ctx, "/del/"+key)
	connector := must(libsql.NewConnector(os.Getenv("UPSTASH_REDIS_REST_URL")+"/sql/"+key, libsql.WithAuthToken(token)))
	return sql.OpenDB(connector)
}

func items(ctx context.Context, key string) *sql.DB {
	db := open(ctx, key, os.Getenv("UPSTASH_REDIS_REST_TOKEN"))
	must(db.ExecContext(ctx, schema))
	return db
}

func count(ctx context.Context, from interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (found int) {
	fine(from.QueryRowContext(ctx, "SELECT count(*) FROM item").Scan(&found))
	return
}

func values(ctx context.Context) {
	db := items(ctx, "go-values")
	defer db.Close()
	text := "Grüße 🦀 \"\n'"
	must(db.ExecContext(ctx, "INSERT INTO item VALUES (?, ?, ?, ?)", int64(math.MinInt64), text, 1.5, []byte{0, 255}))
	result := must(db.ExecContext(ctx, "INSERT INTO item(id, name) VALUES (:id, :name)",
		sql.Named("id", int64(math.MaxInt64)), sql.Named("name", "")))
	same(must(result.RowsAffected()), int64(1))
	same(must(result.LastInsertId()), int64(math.MaxInt64))
	rows := must(db.QueryContext(ctx, "SELECT * FROM item ORDER BY id"))
	defer rows.Close()
	same(must(rows.Columns()), []string{"id", "name", "price", "picture"})
	type item struct {
		id      int64
		name    string
		price   sql.NullFloat64
		picture []byte
	}
	found := []item{}
	for rows.Next() {
		var each item
		fine(rows.Scan(&each.id, &each.name, &each.price, &each.picture))
		found = append(found, each)
	}
	fine(rows.Err())
	same(found, []item{
		{math.MinInt64, text, sql.NullFloat64{Float64: 1.5, Valid: true}, []byte{0, 255}},
		{math.MaxInt64, "", sql.NullFloat64{}, nil},
	})
}

func preparedStatements(ctx context.Context) {
	db := items(ctx, "go-prepared")
	defer db.Close()
	insert := must(db.PrepareContext(ctx, "INSERT INTO item(id, name) VALUES (?, ?)"))
	defer insert.Close()
	for number := 1; number <= 3; number++ {
		must(insert.ExecContext(ctx, number, fmt.Sprint("item ", number)))
	}
	find := must(db.PrepareContext(ctx, "SELECT name FROM item WHERE id = ?"))
	defer find.Close()
	var name string
	fine(find.QueryRowContext(ctx, 2).Scan(&name))
	same(name, "item 2")
	same(find.QueryRowContext(ctx, 4).Scan(&name), sql.ErrNoRows)
}

func transactions(ctx context.Context) {
	db := items(ctx, "go-transactions")
	defer db.Close()
	tx := must(db.BeginTx(ctx, nil))
	must(tx.ExecContext(ctx, "INSERT INTO item(name) VALUES ('pen')"))
	same(count(ctx, tx), 1)
	same(count(ctx, db), 0)
	rest(ctx, "/config/set/sql-busy-timeout/0")
	_, err := db.ExecContext(ctx, "INSERT INTO item(name) VALUES ('cap')")
	rest(ctx, "/config/set/sql-busy-timeout/5000")
	failsWith(err, "locked")
	fine(tx.Commit())
	same(count(ctx, db), 1)
	tx = must(db.BeginTx(ctx, nil))
	must(tx.ExecContext(ctx, "DELETE FROM item"))
	same(count(ctx, tx), 0)
	fine(tx.Rollback())
	same(count(ctx, db), 1)
}

func errorsHeard(ctx context.Context) {
	db := items(ctx, "go-errors")
	defer db.Close()
	must(db.ExecContext(ctx, "INSERT INTO item(name) VALUES ('pen')"))
	_, err := db.ExecContext(ctx, "INSERT INTO item(name) VALUES ('pen')")
	failsWith(err, "UNIQUE constraint failed: item.name")
	_, err = db.ExecContext(ctx, "INSERT INTO missing VALUES (1)")
	failsWith(err, "no such table: missing")
	same(count(ctx, db), 1)
	stranger := open(ctx, "go-stranger", "wrong")
	defer stranger.Close()
	failsWith(stranger.QueryRowContext(ctx, "SELECT 1").Scan(new(int)), "401")
}

func manyRows(ctx context.Context) {
	db := items(ctx, "go-many")
	defer db.Close()
	must(db.ExecContext(ctx, "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000) "+
		"INSERT INTO item SELECT i, 'item ' || i, i / 2.0, NULL FROM c"))
	rows := must(db.QueryContext(ctx, "SELECT id, name FROM item ORDER BY id"))
	defer rows.Close()
	number := 0
	for rows.Next() {
		var id int
		var name string
		fine(rows.Scan(&id, &name))
		number++
		same(id, number)
		same(name, fmt.Sprint("item ", number))
	}
	fine(rows.Err())
	same(number, 20000)
}
