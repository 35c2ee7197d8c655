// The history of commands: stored in the browser, walked with the arrows, searched with Ctrl-R.

/** More than a person would look for. The oldest ones are dropped. */
const ENTRIES_MAX = 500;
/** Longer inputs are pasted values: nobody searches for them, and storage is small. */
const ENTRY_MAX_CHARACTERS = 4000;
const KEY = 'edgecask.history';

/** Commands whose arguments are secrets: storage must not hold them. */
const SECRET = /^\s*(?:\d+\s+)?(?:auth\s|hello\s.*\bauth\b|acl\s+setuser\s|config\s+set\s.*(?:requirepass|masterauth|password)|migrate\s.*\bauth)/is;

export class History {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;
  #entries: string[];
  /** The position of the walk; the length of the list stands for the line that is being typed. */
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

  /** Adds a command, but not twice in a row, and ends the walk. */
  add(entry: string): void {
    const text = entry.trim();
    // Another tab may have added commands meanwhile: they stay.
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
      // Storage is full or forbidden: this history ends with the page.
    }
  }

  /** The entry before the current one; `line` is the text in the editor. Undefined at the oldest entry. */
  previous(line: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#entries.length) this.#draft = line;
    this.#at -= 1;
    return this.#entries[this.#at];
  }

  /** The entry after the current one; after the newest one, the line that was being typed. */
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
