import { goto } from '$app/navigation';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { m } from '#app/i18n/messages.ts';
import { type LinkPolicy, toLinkPolicy, STREAMING_POLICY } from '#app/trust/composed-links.ts';
import { toWikiHref } from './wiki-labels.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import { type StoredPageDraft, type PageDraft, wikiDrafts } from './wiki-drafts.svelte.ts';
import { type WikiPageResult, wiki } from './wiki.svelte.ts';

const SAVE_DELAY_MS = 250;

/** Editor of a wiki page: the draft, its storage, and changes by others in the meantime. */
export class WikiEditor {
  readonly agent: string;
  /** Empty for a new page. */
  readonly path: string;
  draft = $state<PageDraft | null>(null);
  /** Why the front matter of the page is invalid. */
  frontMatterError = $state<string | undefined>();
  /** Policy for links in the preview; all of them need confirmation until the page is loaded. */
  linkPolicy = $state.raw<LinkPolicy | undefined>();
  working = $state(false);
  problem = $state<Problem | null>(null);
  /** Current page if the draft was made from another version; `version` null: the page was removed. */
  newerVersion = $state.raw<{ content: string; version: string | null } | undefined>();
  /** State of the typed text. */
  draftState = $state<'unchanged' | 'typed' | 'kept' | 'failed'>('unchanged');
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(agent: string, path: string) {
    this.agent = agent;
    this.path = path;
    if (path !== '') this.linkPolicy = STREAMING_POLICY;
  }

  get otherDrafts(): StoredPageDraft[] {
    return wikiDrafts.findOthers(this.agent, this.path);
  }

  /** Loads this tab's draft, or the page if there is none. */
  async begin(): Promise<void> {
    this.problem = null;
    await wikiDrafts.load();
    const ownDraft = wikiDrafts.findOwn(this.agent, this.path);
    if (ownDraft) {
      this.draft = { ...ownDraft.draft };
      this.draftState = 'typed';
      this.storeDraft();
    }
    try {
      const loadedPage = this.path === '' ? undefined : await wiki.fetchPage(this.path, this.agent);
      this.frontMatterError = loadedPage?.page.problem;
      this.linkPolicy = toLinkPolicy(loadedPage ?? {});
      if (ownDraft) this.#compareVersions(loadedPage);
      else this.draft = this.#toDraft(loadedPage);
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.wiki_doing_read_page());
    }
  }

  #toDraft(loaded: WikiPageResult | undefined): PageDraft {
    const { title, tags, content, frontMatter, version } = loaded?.page ?? { title: '', tags: [], content: '', version: null };
    const draft: PageDraft = { path: loaded?.page.path ?? this.path, title, tags: tags.join(', '), content, version };
    if (this.frontMatterError !== undefined && frontMatter !== undefined) draft.frontMatter = frontMatter;
    return draft;
  }

  #compareVersions(loaded: WikiPageResult | undefined): void {
    const version = loaded?.page.version ?? null;
    this.newerVersion = version === this.draft?.version ? undefined : { content: loaded?.page.content ?? '', version };
  }

  /** Checks for changes by others; an unedited draft is replaced. */
  async checkForChanges(): Promise<void> {
    const path = this.draft?.version === null ? this.draft.path.trim() : this.path;
    if (!this.draft || this.working || path === '') return;
    const loadedPage = await wiki.fetchPage(path, this.agent).catch(() => null);
    // Unknown, or saved in the meantime.
    if (loadedPage === null || this.working) return;
    if (loadedPage) this.linkPolicy = toLinkPolicy(loadedPage);
    if (this.draftState === 'unchanged' && loadedPage) this.draft = this.#toDraft(loadedPage);
    else if (this.draftState !== 'unchanged') this.#compareVersions(loadedPage);
  }

  onInput(): void {
    this.draftState = 'typed';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.storeDraft(), SAVE_DELAY_MS);
  }

  /** Stores the draft now. */
  storeDraft(): void {
    clearTimeout(this.#timer);
    if (this.draftState !== 'typed' || !this.draft) return;
    const record = wikiDrafts.set(this.agent, this.path, { ...this.draft });
    wikiDrafts.store(record).then(
      () => this.draftState === 'typed' && wikiDrafts.findOwn(this.agent, this.path) === record && (this.draftState = 'kept'),
      () => (this.draftState = 'failed'),
    );
  }

  /** Continues with the draft of another tab, which is replaced by the draft of this tab. */
  adopt(otherDraft: StoredPageDraft): void {
    const { draft } = this;
    if (draft && this.draftState !== 'unchanged')
      void wikiDrafts.store({ ...otherDraft, at: Date.now(), draft: { ...draft } }).catch(() => {});
    else void wikiDrafts.remove(otherDraft.id);
    this.draft = { ...otherDraft.draft };
    this.onInput();
    this.storeDraft();
    void this.checkForChanges();
  }

  drop(otherDraft: StoredPageDraft): void {
    void wikiDrafts.remove(otherDraft.id);
    toasts.show(m.wiki_draft_deleted(), { action: { label: m.kit_undo(), run: () => void wikiDrafts.store(otherDraft).catch(() => {}) } });
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
      this.#removeDraft();
      await goto(toWikiHref({ agent: this.agent, page: saved.path }), { replaceState: true });
    } catch (error) {
      this.working = false;
      this.problem = toProblem(error, m.wiki_doing_save_page());
      if (error instanceof RpcError && (error.code === 'ABORTED' || error.code === 'ALREADY_EXISTS')) await this.checkForChanges();
    } finally {
      this.working = false;
    }
  }

  /** Discards the draft and offers Undo. */
  async discard(): Promise<void> {
    const { agent, path } = this;
    const edited = this.draftState === 'unchanged' ? undefined : this.draft;
    this.#removeDraft();
    if (edited) {
      const undo = (): void => {
        wikiDrafts.set(agent, path, { ...edited });
        void goto(toWikiHref({ agent, page: path, edit: true }));
      };
      toasts.show(m.wiki_draft_discarded(), { action: { label: m.kit_undo(), run: undo } });
    }
    await goto(toWikiHref(this.draft?.version === null ? { agent } : { agent, page: path }), { replaceState: true });
  }

  #removeDraft(): void {
    clearTimeout(this.#timer);
    this.draftState = 'unchanged';
    const ownDraft = wikiDrafts.findOwn(this.agent, this.path);
    if (ownDraft) void wikiDrafts.remove(ownDraft.id);
  }
}
