import { formatMemory, parseMemories } from '../memory/long-term.ts';
import type { Workspace } from '../memory/workspace.ts';
import { StorageMode } from './dreaming-config.ts';
import { startOnNewLine } from './json-lines.ts';
import { parsePassages } from './parse-passages.ts';
import type { Promotion, PromotionLog } from './promotion-log.ts';
import { normalizeText } from './signal.ts';
import type { SignalsStore } from './signals-store.ts';
import { DREAMS_FILE } from './signal-sources.ts';

const TITLE = '# Dreams\n\nMemories that dreaming promoted from recurring signals.\n\n';

/** Text written to memory for a signal, without list markers. */
export const toMemoryText = ({ text, content }: Pick<Promotion, 'text' | 'content'>): string =>
  text ??
  parsePassages(content)
    .map((passage) => passage.text)
    .join('\n');

/**
 * Writes to the long-term memory and records it in the log before and after, so that `finish` can complete an interrupted promotion and
 * nothing is written twice.
 */
export class Promoter {
  readonly #workspace: Workspace;
  readonly #log: PromotionLog;
  readonly #signals: SignalsStore;
  readonly #files: readonly string[];
  readonly #now: () => number;

  constructor(
    workspace: Workspace,
    log: PromotionLog,
    signals: SignalsStore,
    { storage, longTermFile, now }: { storage: StorageMode; longTermFile: string; now: () => number },
  ) {
    this.#workspace = workspace;
    this.#log = log;
    this.#signals = signals;
    this.#files = { inline: [longTermFile], separate: [DREAMS_FILE], both: [longTermFile, DREAMS_FILE] }[storage];
    this.#now = now;
  }

  async promote(promotions: readonly Promotion[]): Promise<void> {
    const now = this.#now();
    const begun = promotions.map((promotion): Promotion => ({ ...promotion, state: 'promoting', at: now }));
    await this.#log.add(begun);
    await this.finish(begun);
  }

  /** Completes promotions in the state `promoting`. */
  async finish(begun: readonly Promotion[]): Promise<void> {
    if (begun.length === 0) return;
    for (const file of this.#files) await this.#append(file, begun);
    const now = this.#now();
    await this.#log.add(begun.map((each): Promotion => ({ ...each, state: 'promoted', at: now })));
    await this.#signals.recordConsolidations(begun.map(({ contentHash }) => ({ contentHash, at: now })));
  }

  async #append(path: string, promotions: readonly Promotion[]): Promise<void> {
    await this.#workspace.update(path, (file) => {
      const existing = new Set(
        parseMemories(file ?? '').flatMap((block) => (block.kind === 'memory' ? normalizeText(block.memory.text) : [])),
      );
      const lines = promotions.flatMap((promotion) => {
        const text = toMemoryText(promotion);
        return existing.has(normalizeText(text)) ? [] : formatMemory({ text, category: promotion.category, createdAt: promotion.at });
      });
      if (lines.length === 0) return undefined;
      const title = file === undefined && path === DREAMS_FILE ? TITLE : '';
      return (file ?? '') + startOnNewLine(file, title + lines.join(''));
    });
  }
}
