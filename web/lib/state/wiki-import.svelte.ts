import type { MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import type { WikiPage } from '#shared/rpc/methods/wiki-records.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { type GivenFile, MOST_BYTES, pageOf, says, sorted, textOf } from '#lib/wiki/import-files.ts';
import { wiki } from './wiki.svelte.ts';

/** A file beside the page of its name: there is none, it says the same, it says something else, or the file is none for a page. */
export interface ImportRow {
  path: string;
  file: File;
  state: 'new' | 'same' | 'other' | 'refused';
  /** The page as it is, where it says something else. */
  page?: WikiPage;
  why?: string;
}

/** Result of an import, with the data that Undo needs. */
export interface ImportOutcome {
  added: WikiPage[];
  replaced: { was: WikiPage; now: WikiPage }[];
  same: number;
  kept: number;
  claims: MethodResult<'wiki.import'>;
  /** By the file that it is about. */
  problems: { path: string; why: string }[];
}

type Calls = 'wiki.page' | 'wiki.savePage' | 'wiki.removePage' | 'wiki.import' | 'wiki.deleteClaim' | 'wiki.pages';

/** Reading files into the wiki of one agent: first what would be done is shown, then it is done, page by page. */
export class WikiImport {
  readonly agentId: string;
  stage = $state<'choosing' | 'reading' | 'chosen' | 'writing' | 'done' | 'undoing' | 'undone'>('choosing');
  rows = $state.raw<ImportRow[]>([]);
  claims = $state.raw<GivenFile<File>[]>([]);
  /** Files that are neither pages nor claims. */
  left = $state(0);
  /** Whether pages that say something else get the text of the file. */
  replace = $state(false);
  /** Steps of what is under way. */
  step = $state(0);
  steps = $state(0);
  outcome = $state.raw<ImportOutcome | null>(null);
  problem = $state<Problem | null>(null);
  #stop = new AbortController();

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  count = (state: ImportRow['state']): number => this.rows.filter((row) => row.state === state).length;

  /** Whether anything was written. */
  get undoable(): boolean {
    const { outcome } = this;
    return outcome !== null && outcome.added.length + outcome.replaced.length + outcome.claims.added.length > 0;
  }

  /** Looks at what was chosen; nothing is written. */
  async choose(files: readonly GivenFile<File>[]): Promise<void> {
    this.stop();
    const { signal } = (this.#stop = new AbortController());
    [this.problem, this.outcome, this.step] = [null, null, 0];
    const { pages, claims, left } = sorted(files);
    [this.stage, this.claims, this.left, this.steps] = ['reading', claims, left, pages.length];
    try {
      const here = new Set((await this.#call('wiki.pages', {}, signal)).pages.map(({ path }) => path.toLowerCase()));
      const seen = new Set<string>();
      const rows: ImportRow[] = [];
      for (const { path, file } of pages) {
        rows.push(await this.#look(path, file, here.has(path.toLowerCase()), seen.has(path.toLowerCase()), signal));
        seen.add(path.toLowerCase());
        this.step++;
      }
      [this.rows, this.stage] = [rows, 'chosen'];
    } catch (error) {
      if (signal.aborted) return;
      [this.stage, this.problem] = ['choosing', problemOf(error, m.wiki_doing_read_files())];
    }
  }

  async #look(path: string, file: File, here: boolean, twice: boolean, signal: AbortSignal): Promise<ImportRow> {
    if (twice) return { path, file, state: 'refused', why: m.wiki_import_twice() };
    if (file.size > MOST_BYTES) return { path, file, state: 'refused', why: m.wiki_import_too_large({ size: MOST_BYTES / 1024 / 1024 }) };
    const text = await textOf(file);
    if (text === null) return { path, file, state: 'refused', why: m.wiki_import_not_utf8() };
    if (!here) return { path, file, state: 'new' };
    const { page } = await this.#call('wiki.page', { path }, signal);
    return says(page, pageOf(text)) ? { path, file, state: 'same' } : { path, file, state: 'other', page };
  }

  /** Writes what was shown. What cannot be written is told, and stops nothing else. */
  async write(): Promise<void> {
    const { signal } = (this.#stop = new AbortController());
    const rows = this.rows.filter(({ state }) => state === 'new' || (state === 'other' && this.replace));
    [this.stage, this.step, this.steps, this.problem] = ['writing', 0, rows.length + this.claims.length, null];
    const outcome: ImportOutcome = {
      ...{ added: [], replaced: [], same: this.count('same'), kept: this.replace ? 0 : this.count('other') },
      claims: { added: [], updated: [], unchanged: 0, conflicts: [], problems: [] },
      problems: this.rows.flatMap(({ path, why }) => (why === undefined ? [] : [{ path, why }])),
    };
    const each = async (path: string, work: () => Promise<void>): Promise<void> => {
      if (signal.aborted) return;
      await work().catch(
        (error: unknown) => void (signal.aborted || outcome.problems.push({ path, why: problemOf(error, m.wiki_doing_read_in()).message })),
      );
      this.step++;
    };
    for (const { path, file, page } of rows) {
      await each(path, async () => {
        const { content, frontMatter } = pageOf(await file.text());
        const head = frontMatter === undefined ? {} : { frontMatter };
        const saved = (await this.#call('wiki.savePage', { path, content, ...head, version: page?.version ?? null }, signal)).page;
        if (page) outcome.replaced.push({ was: page, now: saved });
        else outcome.added.push(saved);
      });
    }
    for (const { path, file } of this.claims) {
      await each(path, async () => {
        const { added, updated, unchanged, conflicts, problems } = await this.#call('wiki.import', { content: await file.text() }, signal);
        const { claims } = outcome;
        claims.added.push(...added);
        claims.updated.push(...updated);
        claims.unchanged += unchanged;
        claims.conflicts.push(...conflicts);
        outcome.problems.push(...problems.map(({ line, problem }) => ({ path: m.wiki_import_line({ path, line }), why: problem })));
      });
    }
    [this.outcome, this.stage] = [outcome, 'done'];
    await wiki.load();
  }

  /** Ends what is under way; what is written by then stays, and is told. */
  stop = (): void => this.#stop.abort();

  /** Pages that were added go, those that were replaced are as they were, claims that were added are deleted; nothing that somebody changed since. */
  async undo(): Promise<void> {
    const { outcome } = this;
    if (!outcome) return;
    const { added, replaced, claims } = outcome;
    const { signal } = (this.#stop = new AbortController());
    const problems: ImportOutcome['problems'] = [];
    [this.stage, this.step, this.steps] = ['undoing', 0, added.length + replaced.length + claims.added.length];
    const each = async (path: string, work: () => Promise<unknown>): Promise<void> => {
      await work().catch((error: unknown) => problems.push({ path, why: problemOf(error, m.wiki_doing_take_back()).message }));
      this.step++;
    };
    for (const id of claims.added)
      await each(m.wiki_import_claim({ id }), () => this.#call('wiki.deleteClaim', { id, why: m.wiki_import_undo_why() }, signal));
    for (const { path, version } of added) await each(path, () => this.#call('wiki.removePage', { path, version }, signal));
    for (const { was, now } of replaced) {
      const { path, content, frontMatter = '' } = was;
      await each(path, () => this.#call('wiki.savePage', { path, content, frontMatter, version: now.version }, signal));
    }
    [this.outcome, this.stage] = [{ ...outcome, problems }, 'undone'];
    await wiki.load();
  }

  /** Calls the gateway; on rate limiting, waits as long as the gateway asks. */
  async #call<M extends Calls>(method: M, params: Omit<MethodParams<M>, 'agentId'>, signal: AbortSignal): Promise<MethodResult<M>> {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await gateway.call(method, { ...params, agentId: this.agentId } as MethodParams<M>);
      } catch (error) {
        const wait = error instanceof RpcError && error.code === 'RATE_LIMITED' ? (error.extra.retryAfterMs ?? 1000) : undefined;
        if (wait === undefined) throw error;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, wait);
          signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
        });
      }
    }
  }
}
