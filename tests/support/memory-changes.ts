import fc from 'fast-check';
import { formatDialogLine } from '../../web/gateway/knowledge/memory/dialog/dialog-lines.ts';
import type { FileIndex } from '../../web/gateway/knowledge/memory/index/file-index.ts';
import { formatDate, toNotesPath, toDialogPath } from '../../web/gateway/knowledge/memory/layout.ts';
import { formatMemory } from '../../web/gateway/knowledge/memory/long-term.ts';
import type { Workspace } from '../../web/gateway/knowledge/memory/workspace.ts';

/** Time of the changes; their texts refer to earlier days. */
export const NOW_MS = Date.UTC(2026, 10, 22);
const DAY = 86_400_000;
export const LONG_TERM = 'MEMORY.md';

export const WORDS = 'blue kayak barn Ana married photograph photographs lamp paid $5 June yesterday why? \ud83d'.split(' ');
/** Each text has its own length, so that no two passages have the same score. */
export const createTexts = (): ((words: readonly string[]) => string) => {
  let nth = 0;
  return (words) => `she was at the ${words.join(' ')}${' blah'.repeat(++nth)}`;
};

const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 });
const arbitraryWords = fc.nat(50);
export const arbitraryStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('remember' as const), words, nth: arbitraryWords }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom('forget' as const, 'turn' as const, 'spoil' as const), words, nth: arbitraryWords }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constantFrom('say' as const, 'note' as const), words, nth: arbitraryWords }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom('edit' as const, 'remove' as const, 'silence' as const, 'otherwise' as const),
      words,
      nth: arbitraryWords,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constantFrom('close' as const, 'crash' as const, 'look' as const), words, nth: arbitraryWords }),
  },
);
export type MemoryStep = typeof arbitraryStep extends fc.Arbitrary<infer T> ? T : never;

export const toDayFileDate = (nth: number): string => formatDate(NOW_MS - (1 + (nth % 3)) * DAY);
let count = 0;
export const toMemoryLine = (content: string, nth: number): string =>
  formatDialogLine(
    { id: String(++count), role: 'user', name: 'Ana', content, timestamp: NOW_MS - (1 + (nth % 3)) * DAY + count },
    `s${nth % 2}`,
  );

/** Changes the files once, like this program, another one or a person. */
export async function applyStep(
  { does, words, nth }: MemoryStep,
  index: FileIndex,
  workspace: Workspace,
  text: (words: readonly string[]) => string,
): Promise<void> {
  const change = async (path: string, edit: (lines: string[]) => string[]): Promise<void> => {
    const lines = ((await workspace.read(path)) ?? '').split('\n').filter(Boolean);
    await workspace.write(
      path,
      edit(lines)
        .map((each) => `${each}\n`)
        .join(''),
    );
  };
  const dialog = toDialogPath(toDayFileDate(nth));
  switch (does) {
    case 'remember':
      await change(LONG_TERM, (lines) => [...lines, formatMemory({ text: text(words), category: 'fact', createdAt: NOW_MS }).trim()]);
      return index.look(LONG_TERM);
    case 'forget':
      return change(LONG_TERM, (lines) => lines.filter((_, at) => at !== nth % Math.max(1, lines.length)));
    case 'turn':
      return change(LONG_TERM, (lines) => lines.reverse());
    case 'spoil':
      return workspace.append(dialog, '{"role":"us');
    case 'say':
      return index.append(dialog, toMemoryLine(text(words), nth) + toMemoryLine(nth % 4 === 0 ? ' ' : text(words), nth));
    case 'otherwise':
      return workspace.append(dialog, toMemoryLine(text(words), nth));
    case 'silence':
      return index.append(dialog, toMemoryLine('', nth));
    case 'note':
      return workspace.write(toNotesPath(toDayFileDate(nth)), `# Notes\n\n${text(words)}\n\n- ${text(words)}\n`);
    case 'edit':
      return change(dialog, (lines) => lines.map((each, at) => (at === nth % lines.length ? toMemoryLine(text(words), nth).trim() : each)));
    case 'remove':
      await workspace.remove(nth % 2 ? dialog : toNotesPath(toDayFileDate(nth)));
      return;
    case 'look':
      return index.follow();
  }
}
