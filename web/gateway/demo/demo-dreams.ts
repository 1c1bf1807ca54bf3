import type { DreamRun } from '#shared/rpc/methods/dreaming-contracts.ts';
import { RunLog } from '../agent/knowledge/dreamer/run-log.ts';
import { PromotionLog } from '../knowledge/dreaming/promotion-log.ts';
import { saveReport } from '../knowledge/dreaming/report-files.ts';
import { computeContentHash } from '../knowledge/dreaming/signal.ts';
import { type SignalInput, SignalsStore } from '../knowledge/dreaming/signals-store.ts';
import { MemoryCategory } from '../knowledge/memory/long-term.ts';
import { formatDate, toNotesPath } from '../knowledge/memory/layout.ts';
import type { Workspace } from '../knowledge/memory/workspace.ts';
import { getDaysAgo, HOUR_MS, MINUTE_MS } from './demo-time.ts';

/** Sentences of the notes that dreaming suggests as memories. `days`: age of the note. */
export const SUGGESTIONS = {
  boat: { content: 'Robin’s boat takes three people and a scope, not four.', days: 5, category: MemoryCategory.FACT, score: 0.71 },
  fog: { content: 'On foggy mornings we start counting at 8:00 instead of 7:00.', days: 2, category: MemoryCategory.DECISION, score: 0.66 },
  newsletter: { content: 'The club news closes on the 20th of each month.', days: 2, category: MemoryCategory.FACT, score: 0.58 },
};

/** Questions that recalled the notes on different days. */
const QUERIES = ['Who can come along in the boat?', 'When do we start counting?', 'What goes into the club news?', 'plan the next count'];

/** Exams of the last nights, the newest first. */
const EXAMS: readonly DreamRun['exam'][] = [
  { questions: 31, before: { right: 25, tokens: 902 }, after: { right: 28, tokens: 741 }, kept: 3, turnedDown: 2 },
  { questions: 29, before: { right: 23, tokens: 884 }, after: { right: 25, tokens: 832 }, kept: 2, turnedDown: 1 },
  { questions: 26, before: { right: 19, tokens: 911 }, after: { right: 22, tokens: 846 }, kept: 3, turnedDown: 1 },
];

const COMPONENTS = { frequency: 0.67, relevance: 0.74, diversity: 0.6, recency: 0.81, consolidation: 0.52, conceptual: 0.5 };

const REPORT = `# Last night

Most of your notes circled around the spring count, and three of them are worth keeping.

- **The boat.** Twice you asked who can come along, and both times the answer was in a note from last week: three people and a scope.
- **Fog.** You moved the start to 8:00 once and then planned with it again. That sounds like a rule now.
- **The club news.** The 20th came up three times this month.

I left out the landing stage: it was under water on one day only.
`;

/** A dreaming run of last night with its report, three suggestions to review, and the signals behind them. */
export async function seedDreams(workspace: Workspace, origin: string, now: number): Promise<void> {
  const startedAt = getDaysAgo(now, 0, '03:00') < now - HOUR_MS ? getDaysAgo(now, 0, '03:00') : getDaysAgo(now, 1, '03:00');
  const suggestions = await Promise.all(
    Object.values(SUGGESTIONS).map(async ({ content, days, category, score }) => ({
      ...{ content, category, score, createdAt: getDaysAgo(now, days), contentHash: await computeContentHash(content) },
      sourceRef: `${toNotesPath(formatDate(getDaysAgo(now, days)))}`,
    })),
  );
  const recalls = suggestions.flatMap(({ content, sourceRef }, index): SignalInput[] =>
    QUERIES.slice(0, 4 - index).map((query, nth) => ({
      ...{ content, sourceRef, query, tags: ['count', 'club'], score: 0.8 - nth * 0.08 },
      at: getDaysAgo(now, nth, `${10 + nth}:20`),
    })),
  );
  await new SignalsStore(workspace, { now: () => now }).note(recalls);
  await new PromotionLog(workspace).add(
    suggestions.map((suggestion) => ({ ...suggestion, state: 'proposed', components: COMPONENTS, at: startedAt + 2 * MINUTE_MS })),
  );
  const path = await saveReport(workspace, startedAt + MINUTE_MS, REPORT);
  const candidates = suggestions.map(({ contentHash, content, sourceRef, score }) => ({
    ...{ contentHash, content, sourceRef, score, components: COMPONENTS, outcome: 'proposed' as const },
  }));
  const log = new RunLog(workspace, origin);
  for (const nights of [2, 1, 0]) {
    const from = startedAt - nights * 24 * HOUR_MS;
    const run: DreamRun = {
      ...{ id: `demo-dream-${nights}`, by: 'schedule', phases: ['LIGHT', 'REM', 'DEEP'], state: 'completed', phase: null },
      ...{ startedAt: from, finishedAt: from + 3 * MINUTE_MS, problems: [] },
      light: { recalls: 9 - nights, collected: 6 - nights, seenAgain: 3, removed: 0, total: 14 - nights * 2, untrusted: 0 },
      ...(nights === 0
        ? {
            rem: {
              themes: [
                ['count', 'boat', 'morning'],
                ['club', 'news'],
              ],
              byModel: true,
              path,
            },
          }
        : {}),
      exam: EXAMS[nights],
      deep: { promoted: 0, proposed: nights === 0 ? 3 : 0, finished: 0, candidates: nights === 0 ? candidates : [], more: 0 },
    };
    await log.put(run);
  }
}
