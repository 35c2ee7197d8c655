// What the programs of this folder share: the server, which REST_RUNS of run.py names as for all programs of REST, and films.

export const HOST = process.env.UPSTASH_REDIS_REST_URL;
export const KEY = process.env.UPSTASH_REDIS_REST_TOKEN;
// The page that `--http-origins` of run.py lets in.
export const PAGE = 'https://app.example';

export const FILMS = [
  { id: 1, title: 'The Matrix', director: 'Wachowski', genres: ['Action', 'Science Fiction'], year: 1999, rating: 8.7,
    plot: 'A hacker learns from rebels about the true nature of his reality and his part in the war against its machines.' },
  { id: 2, title: 'The Matrix Reloaded', director: 'Wachowski', genres: ['Action', 'Science Fiction'], year: 2003, rating: 7.2,
    plot: 'Rebels defend a hidden city while a hacker looks for the door to the source of the machines.' },
  { id: 3, title: 'Amélie', director: 'Jeunet', genres: ['Comedy', 'Romance'], year: 2001, rating: 8.3,
    plot: 'A waitress in Paris decides to make the lives of other people happier.' },
  { id: 4, title: 'Blade Runner', director: 'Scott', genres: ['Drama', 'Science Fiction'], year: 1982, rating: 8.1,
    plot: 'A policeman of the future hunts androids that look like people.' },
  { id: 5, title: 'Alien', director: 'Scott', genres: ['Horror', 'Science Fiction'], year: 1979, rating: 8.5,
    plot: 'The crew of a spaceship is hunted by a creature that it has let in.' },
  { id: 6, title: 'Paris, Texas', director: 'Wenders', genres: ['Drama'], year: 1984, rating: 8.1,
    plot: 'A man walks out of the desert and looks for his wife.' },
  { id: 7, title: '東京物語', director: 'Ozu', genres: ['Drama'], year: 1953, rating: 8.1,
    plot: 'Old parents visit their grown children in Tokyo.' },
  { id: 8, title: 'Some Like It Hot', director: 'Wilder', genres: ['Comedy'], year: 1959, rating: 8.2,
    plot: 'Two musicians hide from gangsters in an orchestra of women.' },
];

export const SETTINGS = {
  searchableAttributes: ['title', 'director', 'plot'],
  filterableAttributes: ['director', 'genres', 'year', 'rating'],
  sortableAttributes: ['title', 'year', 'rating'],
};

// A command over REST, as the default user.
export async function command(...words) {
  const response = await fetch(HOST, { method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body: JSON.stringify(words) });
  const { result, error } = await response.json();
  if (error) throw new Error(error);
  return result;
}

// An index with all the films, of a client of `meilisearch`, on an empty server.
export async function filled(client, settings = {}) {
  await command('FLUSHALL');
  const index = client.index('films');
  for (const task of [index.updateSettings({ ...SETTINGS, ...settings }), index.addDocuments(FILMS, { primaryKey: 'id' })]) {
    const { status, error } = await task.waitTask();
    if (status !== 'succeeded') throw new Error(`a task of the preparation ${status}: ${error?.message}`);
  }
  return index;
}

export function ids(hits) {
  return hits.map(({ id }) => id);
}
