import { isCategory, MemoryCategory, parseMemories } from '../memory/long-term.ts';
import type { Workspace } from '../memory/workspace.ts';
import { withBorrowedRecalls } from './borrowed-recalls.ts';
import type { DreamingConfig } from './config.ts';
import type { Pace } from './pace.ts';
import { type Said, saidIn, saysTheSame } from './near-duplicate.ts';
import { memoryText, type Promoter } from './promoter.ts';
import type { Promotion, PromotionLog } from './promotion-log.ts';
import type { Candidate, PromotionScorer } from './promotion-scorer.ts';
import type { CandidateReport, DeepReport } from './report.ts';
import type { SignalsStore } from './signals-store.ts';
import { DREAMS_FILE, type Sources } from './sources.ts';

/** Maximum number of pending proposals; once reached, no more are made. */
const MOST_WAITING = 200;
const MOST_TOLD = 200;

export interface DeepDeps {
  workspace: Workspace;
  config: DreamingConfig;
  longTermFile: string;
  signals: SignalsStore;
  scorer: PromotionScorer;
  sources: Sources;
  log: PromotionLog;
  promoter: Promoter;
  now: () => number;
  pace: Pace;
}

/** Scores the signals and promotes or proposes the best. First completes promotions interrupted by a crash. */
export async function deepPhase(deps: DeepDeps): Promise<Omit<DeepReport, 'startedAt' | 'finishedAt'>> {
  const { config, signals, scorer, sources, log, promoter, now, pace } = deps;
  const { promotions, broken } = await log.read();
  const interrupted = [...promotions.values()].filter(({ state }) => state === 'promoting');
  await promoter.finish(interrupted);
  const waiting = [...promotions.values()].filter(({ state }) => state === 'proposed');
  const known = [...(await saidInMemory(deps)), ...waiting.map((each) => saidIn(memoryText(each)))];
  const candidates: CandidateReport[] = [];
  const chosen: Promotion[] = [];
  const room = config.promotion === 'propose' ? Math.min(config.limit, MOST_WAITING - waiting.length) : config.limit;
  const lent = await withBorrowedRecalls(await signals.getAllSignals(), pace);
  const ranked = (await scorer.rankInSlices(lent, pace)).filter(({ signal }) => !promotions.has(signal.contentHash));
  for (const candidate of ranked.slice(0, MOST_TOLD)) {
    await pace();
    const said = saidIn(memoryText(candidate.signal));
    const tell = (outcome: CandidateReport['outcome'], reason?: string): void => void candidates.push(told(candidate, outcome, reason));
    if (chosen.length >= room) {
      tell('later', room < config.limit ? `${MOST_WAITING} suggestions are already waiting` : `limit of ${config.limit} per run reached`);
      continue;
    }
    const state = await sources.check(candidate.signal);
    if (!state.stands) tell('withheld', state.why);
    else if (known.some((each) => saysTheSame(each, said))) tell('known', 'already in memory or suggested');
    else {
      tell(config.promotion === 'propose' ? 'proposed' : 'promoted');
      known.push(said);
      chosen.push(promotionOf(candidate, now()));
    }
  }
  if (config.promotion === 'propose') await log.add(chosen);
  else if (chosen.length > 0) await promoter.promote(chosen);
  const proposed = config.promotion === 'propose' ? chosen.length : 0;
  return {
    phase: 'DEEP',
    promotedCount: interrupted.length + chosen.length - proposed,
    proposedCount: proposed,
    finishedCount: interrupted.length,
    candidates,
    problems: [...broken, ...(await signals.brokenLines())],
  };
}

/** The current content of the long-term memory and `DREAMS.md`, whoever wrote it. */
async function saidInMemory({ workspace, longTermFile }: DeepDeps): Promise<Said[]> {
  const files = await Promise.all([longTermFile, DREAMS_FILE].map((path) => workspace.read(path)));
  return files.flatMap((file) =>
    parseMemories(file ?? '').map((block) => saidIn(block.kind === 'memory' ? block.memory.text : block.text)),
  );
}

function promotionOf({ signal, score, components }: Candidate, at: number): Promotion {
  const { contentHash, content, sourceRef, createdAt, tags } = signal;
  const category = tags.map((tag) => tag.toLowerCase()).find(isCategory) ?? MemoryCategory.FACT;
  return { state: 'proposed', contentHash, content, category, sourceRef, createdAt, score, components: components.toDict(), at };
}

const told = ({ signal, score, components }: Candidate, outcome: CandidateReport['outcome'], reason?: string): CandidateReport => ({
  contentHash: signal.contentHash,
  content: signal.content,
  sourceRef: signal.sourceRef,
  score,
  components: components.toDict(),
  outcome,
  ...(reason !== undefined && { reason }),
});
