import type { Workspace } from '../memory/workspace.ts';
import { parseDialogPassages } from './dialog-passages.ts';
import { type Passage, parsePassagesInSlices, parsePassages } from './parse-passages.ts';
import { REPORTS_FOLDER, parseReportTime } from './report-files.ts';
import { type Pace, noPace } from './pace.ts';
import { normalizeText, type ShortTermSignal } from './signal.ts';

/** File written by dreaming; never a source of signals. */
export const DREAMS_FILE = 'DREAMS.md';

/** Whether the source of a signal still contains it. */
type SourceState = { stands: true } | { stands: false; why: string; /** If true, the signal must never be promoted. */ untrusted: boolean };

/** Reads a source that is not a file of the workspace; undefined if it is missing or unknown. */
export type ReadSource = (sourceRef: string) => Promise<Passage[] | undefined>;

/** A passage with its normalized text, because many are searched for in the same file. */
type NormalizedPassage = Passage & { role?: string; plain: string };
async function normalizePassages(
  passages: (Passage & { role?: string })[] | undefined,
  pace: Pace,
): Promise<NormalizedPassage[] | undefined> {
  if (!passages) return undefined;
  const normalized: NormalizedPassage[] = [];
  for (const passage of passages) {
    normalized.push({ ...passage, plain: normalizeText(passage.text) });
    await pace();
  }
  return normalized;
}

/** Maximum size of tool results that are searched, in bytes; the newest are kept. */
const MAX_RESULT_BYTES = 8_000_000;

/** Reads the current content of signals' sources, each file once. */
export class SignalSources {
  readonly #workspace: Workspace;
  readonly #longTermFile: string;
  readonly #readSource: ReadSource | undefined;
  readonly #pace: Pace;
  readonly #read = new Map<string, Promise<NormalizedPassage[] | undefined>>();
  #results: Promise<string[]> | undefined;
  #reports: Promise<{ at: number; text: string }[]> | undefined;

  constructor(
    workspace: Workspace,
    { longTermFile, readSource, pace = noPace }: { longTermFile: string; readSource?: ReadSource | undefined; pace?: Pace | undefined },
  ) {
    this.#pace = pace;
    this.#workspace = workspace;
    this.#longTermFile = longTermFile;
    this.#readSource = readSource;
  }

  /** Checks whether the source of a signal still contains its text, and whether it may be trusted. */
  async check({ content, sourceRef, createdAt }: Pick<ShortTermSignal, 'content' | 'sourceRef' | 'createdAt'>): Promise<SourceState> {
    await this.#pace();
    if (/^https?:/i.test(sourceRef)) return createUntrusted('it comes from the web');
    const path = getFilePath(sourceRef);
    if (path === this.#longTermFile) return { stands: false, why: `it is already in ${path}`, untrusted: false };
    if (path === DREAMS_FILE || path?.startsWith('.dreams/') === true) return createUntrusted('it was written by dreaming');
    if (path?.startsWith('tool_result/') === true) return createUntrusted('it comes from a tool result');
    const passages = await this.#passages(path, sourceRef);
    if (!passages) return { stands: false, why: `its source ${sourceRef || '(none)'} no longer exists`, untrusted: false };
    const pieces = parsePassages(content);
    if (pieces.length === 0) return { stands: false, why: 'it makes no sense on its own', untrusted: false };
    const untrustedReason = pieces.find(({ untrusted }) => untrusted !== undefined)?.untrusted;
    if (untrustedReason !== undefined) return createUntrusted(untrustedReason);
    for (const { text } of pieces) {
      const normalizedText = normalizeText(text);
      const matches = passages.filter((passage) => passage.plain.includes(normalizedText));
      const [first] = matches;
      if (!first) return { stands: false, why: `its source ${sourceRef} no longer contains it`, untrusted: false };
      if (matches.every(({ untrusted }) => untrusted !== undefined)) return createUntrusted(first.untrusted ?? '');
      // A statement of a user stays trusted, even if others repeat it.
      if (matches.some(({ role, untrusted }) => role === 'user' && untrusted === undefined)) continue;
      if ((await this.#toolResults()).some((result) => result.includes(normalizedText)))
        return createUntrusted('a tool result contains the same words');
      if ((await this.#ownReports()).some((report) => report.at < createdAt && report.text.includes(normalizedText)))
        return createUntrusted('a dream report contains the same words');
    }
    return { stands: true };
  }

  async #passages(path: string | undefined, sourceRef: string): Promise<NormalizedPassage[] | undefined> {
    if (path === undefined) return normalizePassages(await this.#readSource?.(sourceRef), this.#pace);
    let read = this.#read.get(path);
    if (!read) this.#read.set(path, (read = this.#file(path)));
    return (await read) ?? normalizePassages(await this.#readSource?.(sourceRef), this.#pace);
  }

  async #file(path: string): Promise<NormalizedPassage[] | undefined> {
    const text = await this.#workspace.read(path);
    if (text === undefined) return undefined;
    const passages = path.endsWith('.jsonl')
      ? (await parseDialogPassages(text, path, this.#pace)).passages
      : await parsePassagesInSlices(text, this.#pace);
    return normalizePassages(passages, this.#pace);
  }

  #toolResults(): Promise<string[]> {
    return (this.#results ??= (async () => {
      const texts: string[] = [];
      let remainingBytes = MAX_RESULT_BYTES;
      const newest = async (folder: string): Promise<string[]> =>
        (await this.#workspace.list(folder))
          .sort((a, b) => b.modifiedAt - a.modifiedAt)
          .flatMap(({ path, size }) => ((remainingBytes -= size) >= 0 ? path : []));
      for (const path of await newest('tool_result')) texts.push(normalizeText((await this.#workspace.read(path)) ?? ''));
      for (const path of await newest('dialog')) {
        const { passages } = await parseDialogPassages((await this.#workspace.read(path)) ?? '', path, this.#pace);
        texts.push(...passages.filter(({ role }) => role === 'tool').map(({ text }) => normalizeText(text)));
      }
      return texts;
    })());
  }

  #ownReports(): Promise<{ at: number; text: string }[]> {
    return (this.#reports ??= (async () => {
      const reports = [];
      for (const { path } of await this.#workspace.list(REPORTS_FOLDER))
        reports.push({ at: parseReportTime(path) ?? 0, text: normalizeText((await this.#workspace.read(path)) ?? '') });
      return reports;
    })());
  }
}

const createUntrusted = (reason: string): SourceState => ({ stands: false, why: reason, untrusted: true });

/** Path of a source's file; undefined if it cannot be a file of the workspace. */
function getFilePath(sourceRef: string): string | undefined {
  const path = sourceRef.replace(/#.*$/, '').replace(/:\d+(-\d+)?$/, '');
  const isFile = path !== '' && !/^[a-z][\w+.-]*:|\\|^\//i.test(path) && !path.split('/').some((name) => name === '..' || name === '.');
  return isFile ? path : undefined;
}
