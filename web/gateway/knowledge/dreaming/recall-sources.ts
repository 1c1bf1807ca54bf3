import type { Workspace } from '../memory/workspace.ts';
import { parseDialogPassages } from './dialog-passages.ts';
import type { Pace } from './pace.ts';
import { parsePassagesInSlices } from './parse-passages.ts';
import { normalizeText } from './signal.ts';

const LONG_TERM = 'MEMORY.md';
const MAX_EXCERPT_CHARS = 4000;
/** Marks omissions at the beginning and end of an excerpt. */
const ELLIPSIS = /^…|…$/g;

interface RecallSource {
  content: string;
  sourceRef: string;
}

/** Finds the passages of recalled excerpts: promotion needs the original text of the source. */
export class RecallSourceFinder {
  readonly #workspace: Workspace;
  readonly #pace: Pace;
  readonly #files = new Map<string, Promise<{ text: string; line: number; plain: string }[]>>();

  constructor(workspace: Workspace, pace: Pace) {
    this.#workspace = workspace;
    this.#pace = pace;
  }

  /** Undefined if the text is empty after cleaning. `source`: a file of the workspace, with or without line numbers. */
  async find({ text, source }: { text: string; source: string }): Promise<RecallSource | undefined> {
    const excerpt = text.trim().replace(ELLIPSIS, '').trim();
    if (excerpt === '') return undefined;
    const normalizedText = normalizeText(excerpt);
    const path = getSourcePath(source);
    if (path !== undefined) {
      const passages = await this.#passages(path);
      const passage = passages.find(({ plain }) => plain.includes(normalizedText));
      if (passage) return { content: passage.text.slice(0, MAX_EXCERPT_CHARS), sourceRef: `${path}#L${passage.line}` };
    }
    // Without a file it is already in the long-term memory, or its file is gone.
    return { content: excerpt.slice(0, MAX_EXCERPT_CHARS), sourceRef: path === undefined ? LONG_TERM : source };
  }

  #passages(path: string): Promise<{ text: string; line: number; plain: string }[]> {
    let reading = this.#files.get(path);
    if (!reading) this.#files.set(path, (reading = this.#read(path)));
    return reading;
  }

  async #read(path: string): Promise<{ text: string; line: number; plain: string }[]> {
    const file = (await this.#workspace.read(path)) ?? '';
    const passages = path.endsWith('.jsonl')
      ? (await parseDialogPassages(file, path, this.#pace)).passages
      : await parsePassagesInSlices(file, this.#pace);
    const read = [];
    for (const { text, line } of passages) {
      read.push({ text, line, plain: normalizeText(text) });
      await this.#pace();
    }
    return read;
  }
}

/** Path in a source with or without line numbers: `memory/2026-11-20.md#L3`, `dialog/2026-11-20.jsonl:12-14`. */
function getSourcePath(source: string): string | undefined {
  const [path = ''] = /^[^#:\s\\]+\.(?:md|jsonl|txt)\b/i.exec(source.trim()) ?? [];
  return path === '' || path.startsWith('/') || path.split('/').some((name) => name === '..' || name === '.') ? undefined : path;
}
