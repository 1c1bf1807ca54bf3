import { goto } from '$app/navigation';
import { RpcError } from '#shared/rpc/errors.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { m } from '#lib/i18n/pages.ts';
import { type LinkPolicy, toLinkPolicy, UNFINISHED } from '#lib/trust/composed-links.ts';
import { wikiHref } from '#lib/wiki/words.ts';
import { toasts } from './toasts.svelte.ts';
import { type KeptDraft, type PageDraft, wikiDrafts } from './wiki-drafts.svelte.ts';
import { type ReadPage, wiki } from './wiki.svelte.ts';

const KEEP_MS = 250;

/** One page of the wiki while it is edited: what is typed, how that is kept, and what others make of the page meanwhile. */
export class WikiEditor {
  readonly agent: string;
  /** Empty for a page that has none yet. */
  readonly path: string;
  draft = $state<PageDraft | null>(null);
  /** Why the front matter of the page cannot be read. */
  broken = $state<string | undefined>();
  /** How links of the preview are followed; all of them ask until the page is loaded. */
  links = $state.raw<LinkPolicy | undefined>();
  working = $state(false);
  problem = $state<Problem | null>(null);
  /** The page as it is now, where the draft was made from another; `version` null: it was removed. */
  newer = $state.raw<{ content: string; version: string | null } | undefined>();
  /** State of the typed text. */
  standing = $state<'unchanged' | 'typed' | 'kept' | 'failed'>('unchanged');
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(agent: string, path: string) {
    this.agent = agent;
    this.path = path;
    if (path !== '') this.links = UNFINISHED;
  }

  get others(): KeptDraft[] {
    return wikiDrafts.others(this.agent, this.path);
  }

  /** Goes on with what this tab had, else with the page as it is. */
  async begin(): Promise<void> {
    this.problem = null;
    await wikiDrafts.load();
    const own = wikiDrafts.own(this.agent, this.path);
    if (own) {
      this.draft = { ...own.draft };
      this.standing = 'typed';
      this.keep();
    }
    try {
      const found = this.path === '' ? undefined : await wiki.page(this.path, this.agent);
      this.broken = found?.page.problem;
      this.links = toLinkPolicy(found ?? {});
      if (own) this.#compare(found);
      else this.draft = this.#draftOf(found);
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.wiki_doing_read_page());
    }
  }

  #draftOf(found: ReadPage | undefined): PageDraft {
    const { title, tags, content, frontMatter, version } = found?.page ?? { title: '', tags: [], content: '', version: null };
    const draft: PageDraft = { path: found?.page.path ?? this.path, title, tags: tags.join(', '), content, version };
    if (this.broken !== undefined && frontMatter !== undefined) draft.frontMatter = frontMatter;
    return draft;
  }

  #compare(found: ReadPage | undefined): void {
    const version = found?.page.version ?? null;
    this.newer = version === this.draft?.version ? undefined : { content: found?.page.content ?? '', version };
  }

  /** Looks whether others have changed the page: where nothing was typed yet, it is taken over. */
  async look(): Promise<void> {
    const path = this.draft?.version === null ? this.draft.path.trim() : this.path;
    if (!this.draft || this.working || path === '') return;
    const found = await wiki.page(path, this.agent).catch(() => null);
    // Not known, or saved meanwhile.
    if (found === null || this.working) return;
    if (found) this.links = toLinkPolicy(found);
    if (this.standing === 'unchanged' && found) this.draft = this.#draftOf(found);
    else if (this.standing !== 'unchanged') this.#compare(found);
  }

  typed(): void {
    this.standing = 'typed';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.keep(), KEEP_MS);
  }

  /** Keeps at once what was typed. */
  keep(): void {
    clearTimeout(this.#timer);
    if (this.standing !== 'typed' || !this.draft) return;
    const record = wikiDrafts.set(this.agent, this.path, { ...this.draft });
    wikiDrafts.keep(record).then(
      () => this.standing === 'typed' && wikiDrafts.own(this.agent, this.path) === record && (this.standing = 'kept'),
      () => (this.standing = 'failed'),
    );
  }

  /** Goes on with what another tab had. What this one has takes its place there. */
  adopt(other: KeptDraft): void {
    const { draft } = this;
    if (draft && this.standing !== 'unchanged') void wikiDrafts.keep({ ...other, at: Date.now(), draft: { ...draft } }).catch(() => {});
    else void wikiDrafts.forget(other.id);
    this.draft = { ...other.draft };
    this.typed();
    this.keep();
    void this.look();
  }

  drop(other: KeptDraft): void {
    void wikiDrafts.forget(other.id);
    toasts.show(m.wiki_draft_deleted(), { action: { label: m.kit_undo(), run: () => void wikiDrafts.keep(other).catch(() => {}) } });
  }

  async save(version = this.draft?.version ?? null): Promise<void> {
    if (!this.draft || this.working) return;
    this.working = true;
    this.problem = null;
    const { path, content, frontMatter } = this.draft;
    const title = this.draft.title.trim();
    const tags = this.draft.tags
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean);
    try {
      const head = frontMatter === undefined ? { tags, ...(title !== '' && { title }) } : { frontMatter };
      const saved = await wiki.save({ path: path.trim(), content, version, ...head });
      this.#forget();
      await goto(wikiHref({ agent: this.agent, page: saved.path }), { replaceState: true });
    } catch (error) {
      this.working = false;
      this.problem = problemOf(error, m.wiki_doing_save_page());
      if (error instanceof RpcError && (error.code === 'ABORTED' || error.code === 'ALREADY_EXISTS')) await this.look();
    } finally {
      this.working = false;
    }
  }

  /** Leaves the page as it is; what was typed can be had back for a while. */
  async discard(): Promise<void> {
    const { agent, path } = this;
    const edited = this.standing === 'unchanged' ? undefined : this.draft;
    this.#forget();
    if (edited) {
      const undo = (): void => {
        wikiDrafts.set(agent, path, { ...edited });
        void goto(wikiHref({ agent, page: path, edit: true }));
      };
      toasts.show(m.wiki_draft_discarded(), { action: { label: m.kit_undo(), run: undo } });
    }
    await goto(wikiHref(this.draft?.version === null ? { agent } : { agent, page: path }), { replaceState: true });
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.standing = 'unchanged';
    const own = wikiDrafts.own(this.agent, this.path);
    if (own) void wikiDrafts.forget(own.id);
  }
}
