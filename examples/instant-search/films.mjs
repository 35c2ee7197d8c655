// What the page and the program that fills the index have to agree on.

export const INDEX = 'films';
// A user that can only search this index: a page shows its token to everybody.
export const READER = { name: 'films-page', password: 'only-searches' };
export const TOKEN = `${READER.name}:${READER.password}`;

export const SETTINGS = {
  searchableAttributes: ['title', 'director', 'distributor'],
  filterableAttributes: ['genre', 'rated', 'year', 'score'],
  sortableAttributes: ['year', 'score', 'votes', 'gross'],
  // Of films that match equally well, the one that has earned more comes first.
  rankingRules: ['words', 'typo', 'proximity', 'attribute', 'sort', 'exactness', 'gross:desc'],
  pagination: { maxTotalHits: 10_000 },
};
