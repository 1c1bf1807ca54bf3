import type { Memory } from '../../memory/long-term-file.ts';
import type { Workspace } from '../../memory/workspace.ts';
import { parseDialogPassages } from '../dialog-passages.ts';
import { parsePassagesInSlices } from '../parse-passages.ts';
import type { Pace } from '../pace.ts';
import { normalizeText } from '../signal.ts';
import type { Statement } from './exam-question.ts';
import { isFactual, splitSentences } from './statement-text.ts';

const DAILY_FILE = /^(?:memory\/(\d{4}-\d\d-\d\d)\.md|dialog\/(\d{4}-\d\d-\d\d)\.jsonl)$/;
/** Larger files, in bytes, are left out; the light phase reports them. */
const MAX_FILE_BYTES = 5_000_000;
/** Maximum number of statements; the newest are kept. */
const MAX_STATEMENTS = 3000;

interface CollectDeps {
  workspace: Workspace;
  longTermFile: string;
  memories: readonly Memory[];
  /** Earliest time, in milliseconds since the Unix epoch. */
  from: number;
  now: number;
  pace: Pace;
}

/**
 * Sentences that persons said or wrote: their messages, notes and memories, each with the last time it was said; oldest first. Tool results,
 * quotations, replies of models, summaries and text by dreaming are left out.
 */
export async function collectStatements({ workspace, longTermFile, memories, from, now, pace }: CollectDeps): Promise<Statement[]> {
  const byText = new Map<string, Statement>();
  const add = (text: string, sourceRef: string, at: number): void => {
    for (const sentence of splitSentences(text)) {
      if (!isFactual(sentence)) continue;
      const key = normalizeText(sentence);
      const known = byText.get(key);
      if (!known || known.at < at) byText.set(key, { text: sentence, sourceRef: known?.sourceRef ?? sourceRef, at: Math.min(at, now) });
    }
  };
  for (const { path, size } of [...(await workspace.list('memory')), ...(await workspace.list('dialog'))]) {
    const [, note, dialog] = DAILY_FILE.exec(path) ?? [];
    const day = Date.parse(`${note ?? dialog ?? ''}T12:00:00Z`);
    if (Number.isNaN(day) || day < from || size > MAX_FILE_BYTES) continue;
    const file = (await workspace.read(path)) ?? '';
    if (note !== undefined) {
      for (const { text, line, untrusted } of await parsePassagesInSlices(file, pace))
        if (untrusted === undefined) add(text, `${path}#L${line}`, day);
      continue;
    }
    for (const { text, line, role, untrusted, at = day } of (await parseDialogPassages(file, path, pace)).passages) {
      if (role === 'user' && untrusted === undefined) add(text, `${path}#L${line}`, at);
      await pace();
    }
  }
  for (const { text, createdAt } of memories) {
    // A memory may be written long after its statement, which counts.
    const unknown = splitSentences(text).filter((sentence) => !byText.has(normalizeText(sentence)));
    add(unknown.join('\n'), longTermFile, createdAt);
    await pace();
  }
  return [...byText.values()].sort((a, b) => a.at - b.at).slice(-MAX_STATEMENTS);
}
