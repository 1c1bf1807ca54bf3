import { type StoredPageDraft, pageDb, type PageDraft } from './page-db.ts';

export type { StoredPageDraft, PageDraft } from './page-db.ts';

const TAB_KEY = 'perch.tab';

/** This tab, also after it was loaded anew. */
function getTabId(): string {
  try {
    const id = sessionStorage.getItem(TAB_KEY) ?? crypto.randomUUID();
    sessionStorage.setItem(TAB_KEY, id);
    return id;
  } catch {
    return crypto.randomUUID();
  }
}

/** Pages of the wiki that somebody has begun and not saved: kept in this browser until they are saved or discarded. */
class WikiDrafts {
  /** Of all agents and tabs, the newest first. */
  list = $state.raw<StoredPageDraft[]>([]);
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

  getDrafts = (agent: string): StoredPageDraft[] => this.list.filter((each) => each.agent === agent);

  /** This tab's draft of a page. */
  findOwn = (agent: string, path: string): StoredPageDraft | undefined => this.list.find(({ id }) => id === this.#toId(agent, path));

  /** Other tabs' drafts of a page, closed tabs included. */
  findOthers = (agent: string, path: string): StoredPageDraft[] =>
    this.getDrafts(agent).filter((each) => each.path === path && each.id !== this.#toId(agent, path));

  /** Has a draft for as long as the page is open. */
  set(agent: string, path: string, draft: PageDraft): StoredPageDraft {
    return this.put({ id: this.#toId(agent, path), agent, path, at: Date.now(), draft });
  }

  put(record: StoredPageDraft): StoredPageDraft {
    this.list = [record, ...this.list.filter(({ id }) => id !== record.id)];
    return record;
  }

  /** Has it for good. Rejects where the browser does not keep it. */
  async store(record: StoredPageDraft): Promise<void> {
    this.put(record);
    await (await pageDb()).put('wikiDrafts', record);
  }

  async remove(id: string): Promise<void> {
    this.list = this.list.filter((each) => each.id !== id);
    await (await pageDb()).delete('wikiDrafts', id).catch(() => {});
  }

  #toId(agent: string, path: string): string {
    this.#tab ??= getTabId();
    return `${agent}/${path}#${this.#tab}`;
  }
}

export const wikiDrafts = new WikiDrafts();
