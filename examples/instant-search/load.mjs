// Fills the index with films, and makes the user whose token the page has. EDGECASK_HTTP_URL is the server, EDGECASK_TOKEN its password
// if it has one.

import { readFile } from 'node:fs/promises';
import { Meilisearch } from 'meilisearch';
import { INDEX, READER, SETTINGS } from './films.mjs';

const SERVER = process.env.EDGECASK_HTTP_URL ?? 'http://127.0.0.1:8080';
const PASSWORD = process.env.EDGECASK_TOKEN;
// The films end here; the data has years with two digits that were read as later ones.
const LAST_YEAR = 2011;
const BATCH = 1000;

async function films() {
  const file = new URL('node_modules/vega-datasets/data/movies.json', import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')).filter((row) => row.Title !== null).map(film);
}

// A row as a document, without what is not known of the film.
function film(row, id) {
  const year = new Date(`${row['Release Date']} UTC`).getUTCFullYear();
  const all = {
    id,
    title: String(row.Title),
    year: year > LAST_YEAR ? year - 100 : year,
    director: row.Director,
    distributor: row.Distributor,
    genre: row['Major Genre'],
    rated: row['MPAA Rating'],
    score: row['IMDB Rating'],
    votes: row['IMDB Votes'],
    gross: Number(row['Worldwide Gross']) || null,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && !Number.isNaN(value)));
}

// A command of the server over REST.
async function command(...words) {
  const headers = PASSWORD ? { authorization: `Bearer ${PASSWORD}` } : {};
  const { error } = await (await fetch(SERVER, { method: 'POST', headers, body: JSON.stringify(words) })).json();
  if (error) throw new Error(error);
}

async function ends(enqueued) {
  const { status, error } = await enqueued.waitTask();
  if (status !== 'succeeded') throw new Error(error.message);
}

const client = new Meilisearch({ host: SERVER, apiKey: PASSWORD });
const index = client.index(INDEX);
const documents = await films();
await ends(index.updateSettings(SETTINGS));
for (const task of index.addDocumentsInBatches(documents, BATCH, { primaryKey: 'id' })) await ends(task);
await command('ACL', 'SETUSER', READER.name, 'reset', 'on', `>${READER.password}`, '+ft.http_ro', `~${INDEX}:*`);
console.log(`${(await index.getStats()).numberOfDocuments} films`);
