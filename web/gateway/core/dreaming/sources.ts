import type { Workspace } from '../memory/workspace.ts';
import { dialogPassages } from './dialog-passages.ts';
import { type Passage, passagesInTurns, passagesOf } from './passages.ts';
import { REPORTS, reportTime } from './reports.ts';
import { type Pace, unhurried } from './pace.ts';
import { normalized, type ShortTermSignal } from './signal.ts';

export const DREAMS_FILE = 'DREAMS.md';

/** Whether the source of a signal still contains it. */
export type SourceState =
  { stands: true } | { stands: false; why: string; /** If true, the signal must never be promoted. */ untrusted: boolean };

/** Reads a source that is not a file of the workspace; undefined if it is gone or unknown. */
export type ReadSource = (sourceRef: string) => Promise<Passage[] | undefined>;

/** A passage with its normalized text, because many are searched for in the same file. */
type ReadPassage = Passage & { role?: string; plain: string };
async function plain(passages: (Passage & { role?: string })[] | undefined, pace: Pace): Promise<ReadPassage[] | undefined> {
  if (!passages) return undefined;
  const read: ReadPassage[] = [];
  for (const passage of passages) {
    read.push({ ...passage, plain: normalized(passage.text) });
    await pace();
  }
  return read;
}

/** Maximum size of tool results that are searched, in bytes; the newest are kept. */
const MOST_RESULTS = 8_000_000;

/** Reads the current content of signals' sources, each file once. */
export class Sources {
  readonly #workspace: Workspace;
  readonly #longTermFile: string;
  readonly #readSource: ReadSource | undefined;
  readonly #pace: Pace;
  readonly #read = new Map<string, Promise<ReadPassage[] | undefined>>();
  #results: Promise<string[]> | undefined;
  #reports: Promise<{ at: number; text: string }[]> | undefined;

  constructor(
    workspace: Workspace,
    { longTermFile, readSource, pace = unhurried }: { longTermFile: string; readSource?: ReadSource | undefined; pace?: Pace | undefined },
  ) {
    this.#pace = pace;
    this.#workspace = workspace;
    this.#longTermFile = longTermFile;
    this.#readSource = readSource;
  }

  async check({ content, sourceRef, createdAt }: Pick<ShortTermSignal, 'content' | 'sourceRef' | 'createdAt'>): Promise<SourceState> {
    await this.#pace();
    if (/^https?:/i.test(sourceRef)) return never('it comes from the web');
    const path = pathOf(sourceRef);
    if (path === this.#longTermFile) return { stands: false, why: `it is already in ${path}`, untrusted: false };
    if (path === DREAMS_FILE || path?.startsWith('.dreams/') === true) return never('it was written by dreaming');
    if (path?.startsWith('tool_result/') === true) return never('it comes from a tool result');
    const passages = await this.#passages(path, sourceRef);
    if (!passages) return { stands: false, why: `its source ${sourceRef || '(none)'} no longer exists`, untrusted: false };
    const pieces = passagesOf(content);
    if (pieces.length === 0) return { stands: false, why: 'it makes no sense on its own', untrusted: false };
    const marked = pieces.find(({ untrusted }) => untrusted !== undefined)?.untrusted;
    if (marked !== undefined) return never(marked);
    for (const { text } of pieces) {
      const wanted = normalized(text);
      const found = passages.filter((passage) => passage.plain.includes(wanted));
      const [first] = found;
      if (!first) return { stands: false, why: `its source ${sourceRef} no longer contains it`, untrusted: false };
      if (found.every(({ untrusted }) => untrusted !== undefined)) return never(first.untrusted ?? '');
      // A statement of a user stays trusted, even if others repeat it.
      if (found.some(({ role, untrusted }) => role === 'user' && untrusted === undefined)) continue;
      if ((await this.#toolResults()).some((result) => result.includes(wanted))) return never('a tool result contains the same words');
      if ((await this.#ownReports()).some((report) => report.at < createdAt && report.text.includes(wanted)))
        return never('a dream report contains the same words');
    }
    return { stands: true };
  }

  async #passages(path: string | undefined, sourceRef: string): Promise<ReadPassage[] | undefined> {
    if (path === undefined) return plain(await this.#readSource?.(sourceRef), this.#pace);
    let read = this.#read.get(path);
    if (!read) this.#read.set(path, (read = this.#file(path)));
    return (await read) ?? plain(await this.#readSource?.(sourceRef), this.#pace);
  }

  async #file(path: string): Promise<ReadPassage[] | undefined> {
    const text = await this.#workspace.read(path);
    if (text === undefined) return undefined;
    const passages = path.endsWith('.jsonl')
      ? (await dialogPassages(text, path, this.#pace)).passages
      : await passagesInTurns(text, this.#pace);
    return plain(passages, this.#pace);
  }

  #toolResults(): Promise<string[]> {
    return (this.#results ??= (async () => {
      const texts: string[] = [];
      let left = MOST_RESULTS;
      const newest = async (under: string): Promise<string[]> =>
        (await this.#workspace.list(under))
          .sort((a, b) => b.modifiedAt - a.modifiedAt)
          .flatMap(({ path, size }) => ((left -= size) >= 0 ? path : []));
      for (const path of await newest('tool_result')) texts.push(normalized((await this.#workspace.read(path)) ?? ''));
      for (const path of await newest('dialog')) {
        const { passages } = await dialogPassages((await this.#workspace.read(path)) ?? '', path, this.#pace);
        texts.push(...passages.filter(({ role }) => role === 'tool').map(({ text }) => normalized(text)));
      }
      return texts;
    })());
  }

  #ownReports(): Promise<{ at: number; text: string }[]> {
    return (this.#reports ??= (async () => {
      const reports = [];
      for (const { path } of await this.#workspace.list(REPORTS))
        reports.push({ at: reportTime(path) ?? 0, text: normalized((await this.#workspace.read(path)) ?? '') });
      return reports;
    })());
  }
}

const never = (why: string): SourceState => ({ stands: false, why, untrusted: true });

/** Path of a source's file; undefined if it cannot be a file of the workspace. */
function pathOf(sourceRef: string): string | undefined {
  const path = sourceRef.replace(/#.*$/, '').replace(/:\d+(-\d+)?$/, '');
  const isFile = path !== '' && !/^[a-z][\w+.-]*:|\\|^\//i.test(path) && !path.split('/').some((name) => name === '..' || name === '.');
  return isFile ? path : undefined;
}
