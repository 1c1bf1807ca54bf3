import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { WikiPage } from '#shared/rpc/methods/wiki-records.ts';
import type { SelectedFile } from '#shared/import/import-files.ts';
import type { NotePicture, NoteSource } from '#shared/import/notes/note-files.ts';
import { type NotesReading, MAX_PAGE_BYTES, MAX_PICTURE_BYTES, readNotes } from '#shared/import/notes/read-notes.ts';
import {
  listKnownPages,
  PictureWriter,
  type PlannedPage,
  planPage,
  type WikiFileName,
  writePage,
} from '#shared/import/notes/write-notes.ts';
import { type GatewayCall, createRetryingCall } from '#shared/import/retrying-call.ts';
import { ImportError } from '#shared/import/import-error.ts';
import { getRefusalText } from '#app/files/refusal-text.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { wiki } from './wiki.svelte.ts';

/** A note and the page at its path, or a file that cannot be a page. */
type WikiImportRow = (PlannedPage & { why?: undefined }) | { path: string; state: 'refused'; why: string };

/** Result of an import, with the data for Undo. */
export interface WikiImportResult {
  added: WikiPage[];
  replaced: { was: WikiPage; now: WikiPage }[];
  unchangedCount: number;
  skippedCount: number;
  pictures: WikiFileName[];
  claims: MethodResult<'wiki.import'>;
  /** Problems by file. */
  problems: { path: string; why: string }[];
}

/** Imports files into the wiki of an agent: shows a preview first, then writes page by page. */
export class WikiImport {
  readonly agentId: string;
  stage = $state<'choosing' | 'reading' | 'chosen' | 'writing' | 'done' | 'undoing' | 'undone'>('choosing');
  rows = $state.raw<WikiImportRow[]>([]);
  claims = $state.raw<readonly NoteSource[]>([]);
  pictures = $state.raw<readonly NotePicture[]>([]);
  /** Names of files that are left out. */
  omittedFiles = $state.raw<readonly string[]>([]);
  /** The program that wrote the notes. */
  sourceApp = $state('');
  /** Whether existing pages with another text are replaced. */
  shouldReplace = $state(false);
  /** Progress of the running stage. */
  step = $state(0);
  steps = $state(0);
  outcome = $state.raw<WikiImportResult | null>(null);
  problem = $state<Problem | null>(null);
  #abort = new AbortController();

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  countRows = (state: WikiImportRow['state']): number => this.rows.filter((row) => row.state === state).length;

  /** Whether anything was written. */
  get canUndo(): boolean {
    const { outcome } = this;
    return outcome !== null && outcome.added.length + outcome.replaced.length + outcome.pictures.length + outcome.claims.added.length > 0;
  }

  /** Reads files and compares them with the wiki; nothing is written. */
  async choose(files: readonly SelectedFile[]): Promise<void> {
    this.stop();
    const { signal } = (this.#abort = new AbortController());
    [this.problem, this.outcome, this.step] = [null, null, 0];
    [this.stage, this.steps] = ['reading', 0];
    try {
      const call = this.#createCall(signal);
      const notes = await readNotes(files);
      signal.throwIfAborted();
      [this.claims, this.pictures, this.omittedFiles, this.sourceApp] = [notes.claims, notes.pictures, notes.leftOut, notes.product];
      this.steps = notes.pages.length;
      const knownPages = await listKnownPages(call, this.agentId);
      const rows: WikiImportRow[] = notes.rejected.map(({ path, why: code }) => ({ path, state: 'refused', why: toReason(code) }));
      for (const page of notes.pages) {
        rows.push(await planPage(call, this.agentId, page, knownPages));
        this.step++;
      }
      [this.rows, this.stage] = [rows, 'chosen'];
    } catch (error) {
      if (signal.aborted) return;
      const problem =
        error instanceof ImportError
          ? { message: m.sessions_import_not({ file: files[0]?.path ?? '', why: getRefusalText(error.refusal) }), code: null }
          : toProblem(error, m.wiki_doing_read_files());
      [this.stage, this.problem] = ['choosing', problem];
    }
  }

  /** Writes the previewed pages. A failed item is reported and does not stop the others. */
  async write(): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    const call = this.#createCall(signal);
    const rows = this.rows.flatMap((row) => (row.state === 'new' || (row.state === 'other' && this.shouldReplace) ? [row] : []));
    [this.stage, this.step, this.steps, this.problem] = ['writing', 0, rows.length + this.pictures.length + this.claims.length, null];
    const outcome: WikiImportResult = {
      ...{
        added: [],
        replaced: [],
        unchangedCount: this.countRows('same'),
        skippedCount: this.shouldReplace ? 0 : this.countRows('other'),
        pictures: [],
      },
      claims: { added: [], updated: [], unchanged: 0, conflicts: [], problems: [] },
      problems: this.rows.flatMap((row) => (row.state === 'refused' ? [{ path: row.path, why: row.why }] : [])),
    };
    const runStep = async (path: string, work: () => Promise<void>): Promise<void> => {
      if (signal.aborted) return;
      await work().catch(
        (error: unknown) => void (signal.aborted || outcome.problems.push({ path, why: toProblem(error, m.wiki_doing_read_in()).message })),
      );
      this.step++;
    };
    // Pictures first, so that no page is shown without them.
    const pictures = new PictureWriter(call, this.agentId);
    for (const picture of this.pictures)
      await runStep(picture.path, async () => {
        const added = await pictures.add(picture);
        if (added) outcome.pictures.push(added);
      });
    for (const row of rows) {
      await runStep(row.path, async () => {
        const saved = await writePage(call, this.agentId, row);
        if (row.page) outcome.replaced.push({ was: row.page, now: saved });
        else outcome.added.push(saved);
      });
    }
    for (const { path, text } of this.claims) {
      await runStep(path, async () => {
        const params = { agentId: this.agentId, content: text };
        const { added, updated, unchanged, conflicts, problems } = await call('wiki.import', params);
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

  /** Stops the running stage; items written so far stay and are reported. */
  stop = (): void => this.#abort.abort();

  /** Removes added pages, pictures and claims and restores replaced pages, except those changed since. */
  async undo(): Promise<void> {
    const { outcome } = this;
    if (!outcome) return;
    const { added, replaced, pictures, claims } = outcome;
    const { signal } = (this.#abort = new AbortController());
    const call = this.#createCall(signal);
    const { agentId } = this;
    const problems: WikiImportResult['problems'] = [];
    [this.stage, this.step, this.steps] = ['undoing', 0, added.length + replaced.length + pictures.length + claims.added.length];
    const runStep = async (path: string, work: () => Promise<unknown>): Promise<void> => {
      await work().catch((error: unknown) => problems.push({ path, why: toProblem(error, m.wiki_doing_take_back()).message }));
      this.step++;
    };
    for (const id of claims.added)
      await runStep(m.wiki_import_claim({ id }), () => call('wiki.deleteClaim', { agentId, id, why: m.wiki_import_undo_why() }));
    for (const { path, version } of added) await runStep(path, () => call('wiki.removePage', { agentId, path, version }));
    for (const { was, now } of replaced) {
      const { path, content, frontMatter = '' } = was;
      await runStep(path, () => call('wiki.savePage', { agentId, path, content, frontMatter, version: now.version }));
    }
    for (const file of pictures) await runStep(file.path, () => call('workspace.remove', file));
    [this.outcome, this.stage] = [{ ...outcome, problems }, 'undone'];
    await wiki.load();
  }

  #createCall = (signal: AbortSignal): GatewayCall => createRetryingCall((method, params) => gateway.call(method, params), signal);
}

/** Reason why a file cannot be a page, in the person's language. */
function toReason(code: NotesReading['rejected'][number]['why']): string {
  if (code === 'twice') return m.wiki_import_twice();
  if (code === 'pageTooLarge') return m.wiki_import_too_large({ size: MAX_PAGE_BYTES / 1024 / 1024 });
  if (code === 'pictureTooLarge') return m.wiki_import_too_large({ size: MAX_PICTURE_BYTES / 1024 / 1024 });
  return code === 'notUtf8' ? m.wiki_import_not_utf8() : getRefusalText(code);
}
