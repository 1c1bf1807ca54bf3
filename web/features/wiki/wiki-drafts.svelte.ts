import { type StoredPageDraft, pageDb, type PageDraft } from '#app/state/page-db.ts';

export type { StoredPageDraft, PageDraft } from '#app/state/page-db.ts';

const TAB_KEY = 'perch.tab';

/** Id of this tab, which survives reloads. */
function getTabId(): string {
  try {
    const id = sessionStorage.getItem(TAB_KEY) ?? crypto.randomUUID();
    sessionStorage.setItem(TAB_KEY, id);
    return id;
  } catch {
    return crypto.randomUUID();
  }
}

/** Unsaved edits of wiki pages, stored in this browser until they are saved or discarded. */
class WikiDrafts {
  /** Drafts of all agents and tabs, the newest first. */
  list = $state.raw<StoredPageDraft[]>([]);
  #tab: string | undefined;
  #loaded: Promise<void> | undefined;

  /** Loads the stored drafts; none if the browser refuses storage. */
  load(): Promise<void> {
    this.#loaded ??= pageDb()
      .then((db) => db.getAll('wikiDrafts'))
      .then(
        (stored) => {
          const loadedIds = new Set(this.list.map(({ id }) => id));
          this.list = [...this.list, ...stored.filter(({ id }) => !loadedIds.has(id))].sort((a, b) => b.at - a.at);
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

  /** Sets this tab's draft of a page, without storing it. */
  set(agent: string, path: string, draft: PageDraft): StoredPageDraft {
    return this.put({ id: this.#toId(agent, path), agent, path, at: Date.now(), draft });
  }

  put(record: StoredPageDraft): StoredPageDraft {
    this.list = [record, ...this.list.filter(({ id }) => id !== record.id)];
    return record;
  }

  /** Sets and stores a draft. Rejects if the browser refuses storage. */
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
