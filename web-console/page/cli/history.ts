// The commands typed before: kept in the browser, walked with up and down, searched with Ctrl-R.

/** As many as a person may look for; the oldest go first. */
const ENTRIES_MAX = 500;
/** A pasted value of a megabyte is nothing that one looks for, and storage is small. */
const ENTRY_MAX_CHARACTERS = 4000;
const KEY = 'edgecask.history';

/** Commands whose arguments are secrets, which must not lie in storage. */
const SECRET = /^\s*(?:\d+\s+)?(?:auth\s|hello\s.*\bauth\b|acl\s+setuser\s|config\s+set\s.*(?:requirepass|masterauth|password)|migrate\s.*\bauth)/is;

export class History {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;
  #entries: string[];
  /** Where the walk stands; the length of the list is the line that is being typed. */
  #at: number;
  #draft = '';

  constructor(storage: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#storage = storage;
    this.#entries = load(storage);
    this.#at = this.#entries.length;
  }

  get entries(): readonly string[] {
    return this.#entries;
  }

  /** Remembers a command, not twice in a row, and ends the walk. */
  add(entry: string): void {
    const text = entry.trim();
    // Another tab may have written meanwhile: its commands stay.
    const entries = load(this.#storage);
    const keep = text !== '' && text.length <= ENTRY_MAX_CHARACTERS && !text.split('\n').some((line) => SECRET.test(line));
    if (keep && entries.at(-1) !== text) entries.push(text);
    this.#entries = entries.slice(-ENTRIES_MAX);
    this.#at = this.#entries.length;
    this.#draft = '';
    if (!keep) return;
    try {
      this.#storage.setItem(KEY, JSON.stringify(this.#entries));
    } catch {
      // Storage is full or forbidden: the history lasts as long as the page.
    }
  }

  /** The entry before the current one; `line` is what stands in the editor. Undefined at the oldest. */
  previous(line: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#entries.length) this.#draft = line;
    this.#at -= 1;
    return this.#entries[this.#at];
  }

  /** The entry after the current one, and at last what was being typed. */
  next(): string | undefined {
    if (this.#at >= this.#entries.length) return undefined;
    this.#at += 1;
    return this.#at === this.#entries.length ? this.#draft : this.#entries[this.#at];
  }

  /** Entries that contain a text, newest first, each once. */
  search(text: string, limit: number): string[] {
    const wanted = text.toLowerCase();
    const found = new Set<string>();
    for (let at = this.#entries.length - 1; at >= 0 && found.size < limit; at -= 1) {
      const entry = this.#entries[at]!;
      if (entry.toLowerCase().includes(wanted)) found.add(entry);
    }
    return [...found];
  }
}

function load(storage: Pick<Storage, 'getItem'>): string[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((entry): entry is string => typeof entry === 'string').slice(-ENTRIES_MAX) : [];
  } catch {
    return [];
  }
}
