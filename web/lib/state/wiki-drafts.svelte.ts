import { type KeptDraft, pageDb, type PageDraft } from './page-db.ts';

export type { KeptDraft, PageDraft } from './page-db.ts';

const TAB = 'perch.tab';

/** This tab, also after it was loaded anew. */
function tabId(): string {
  try {
    const id = sessionStorage.getItem(TAB) ?? crypto.randomUUID();
    sessionStorage.setItem(TAB, id);
    return id;
  } catch {
    return crypto.randomUUID();
  }
}

/** Pages of the wiki that somebody has begun and not saved: kept in this browser until they are saved or discarded. */
class WikiDrafts {
  /** Of all agents and tabs, the newest first. */
  list = $state.raw<KeptDraft[]>([]);
  #tab: string | undefined;
  #loaded: Promise<void> | undefined;

  /** Reads what was kept before. A browser that refuses storage has none. */
  load(): Promise<void> {
    this.#loaded ??= pageDb()
      .then((db) => db.getAll('wikiDrafts'))
      .then(
        (kept) => {
          const here = new Set(this.list.map(({ id }) => id));
          this.list = [...this.list, ...kept.filter(({ id }) => !here.has(id))].sort((a, b) => b.at - a.at);
        },
        () => void (this.#loaded = undefined),
      );
    return this.#loaded;
  }

  of = (agent: string): KeptDraft[] => this.list.filter((each) => each.agent === agent);

  /** This tab's draft of a page. */
  own = (agent: string, path: string): KeptDraft | undefined => this.list.find(({ id }) => id === this.#id(agent, path));

  /** Other tabs' drafts of a page, closed tabs included. */
  others = (agent: string, path: string): KeptDraft[] =>
    this.of(agent).filter((each) => each.path === path && each.id !== this.#id(agent, path));

  /** Has a draft for as long as the page is open. */
  set(agent: string, path: string, draft: PageDraft): KeptDraft {
    return this.put({ id: this.#id(agent, path), agent, path, at: Date.now(), draft });
  }

  put(record: KeptDraft): KeptDraft {
    this.list = [record, ...this.list.filter(({ id }) => id !== record.id)];
    return record;
  }

  /** Has it for good. Rejects where the browser does not keep it. */
  async keep(record: KeptDraft): Promise<void> {
    this.put(record);
    await (await pageDb()).put('wikiDrafts', record);
  }

  async forget(id: string): Promise<void> {
    this.list = this.list.filter((each) => each.id !== id);
    await (await pageDb()).delete('wikiDrafts', id).catch(() => {});
  }

  #id(agent: string, path: string): string {
    this.#tab ??= tabId();
    return `${agent}/${path}#${this.#tab}`;
  }
}

export const wikiDrafts = new WikiDrafts();
