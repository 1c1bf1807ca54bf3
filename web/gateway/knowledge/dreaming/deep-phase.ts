import { isCategory, MemoryCategory, parseMemories } from '../memory/long-term.ts';
import type { Workspace } from '../memory/workspace.ts';
import { inheritRecalls } from './inherited-recalls.ts';
import type { DreamingConfig } from './dreaming-config.ts';
import type { holdExam } from './exam/hold-exam.ts';
import type { Pace } from './pace.ts';
import { toMemoryText, type Promoter } from './promoter.ts';
import type { Promotion, PromotionLog } from './promotion-log.ts';
import type { Candidate, PromotionScorer } from './promotion-scorer.ts';
import type { CandidateReport, DeepReport } from './phase-report.ts';
import type { SignalsStore } from './signals-store.ts';
import { DREAMS_FILE, type SignalSources } from './signal-sources.ts';
import { extractFeatures, isNearDuplicate, type TextFeatures } from './text-features.ts';

/** Why the exam turned a promotion down. */
const EXAM_REASON = 'the exam answers no more questions with it';

/** Maximum number of pending proposals; once reached, no more are made. */
const MAX_PROPOSALS = 200;
const MAX_REPORTED = 200;

interface DeepPhaseDeps {
  workspace: Workspace;
  config: DreamingConfig;
  longTermFile: string;
  signals: SignalsStore;
  scorer: PromotionScorer;
  sources: SignalSources;
  log: PromotionLog;
  promoter: Promoter;
  /** Holds the exam and returns the promotions that it keeps; undefined if there is no exam. */
  exam?: ((promotions: readonly Promotion[]) => ReturnType<typeof holdExam>) | undefined;
  now: () => number;
  pace: Pace;
}

/** Scores the signals and promotes or proposes the best. First completes promotions interrupted by a crash. */
export async function runDeepPhase(deps: DeepPhaseDeps): Promise<Omit<DeepReport, 'startedAt' | 'finishedAt'>> {
  const { config, signals, scorer, sources, log, promoter, now, pace } = deps;
  const { promotions, broken } = await log.read();
  const interrupted = [...promotions.values()].filter(({ state }) => state === 'promoting');
  await promoter.finish(interrupted);
  const pendingPromotions = [...promotions.values()].filter(({ state }) => state === 'proposed');
  const known = [...(await readMemoryFeatures(deps)), ...pendingPromotions.map((each) => extractFeatures(toMemoryText(each)))];
  const candidates: CandidateReport[] = [];
  const chosen: Promotion[] = [];
  const maxChosen = config.promotion === 'propose' ? Math.min(config.limit, MAX_PROPOSALS - pendingPromotions.length) : config.limit;
  const inherited = await inheritRecalls(await signals.getAllSignals(), pace);
  const ranked = (await scorer.rankInSlices(inherited, pace)).filter(({ signal }) => !promotions.has(signal.contentHash));
  for (const candidate of ranked.slice(0, MAX_REPORTED)) {
    await pace();
    const features = extractFeatures(toMemoryText(candidate.signal));
    const report = (outcome: CandidateReport['outcome'], reason?: string): void =>
      void candidates.push(toCandidateReport(candidate, outcome, reason));
    if (chosen.length >= maxChosen) {
      report(
        'later',
        maxChosen < config.limit ? `${MAX_PROPOSALS} suggestions are already waiting` : `limit of ${config.limit} per run reached`,
      );
      continue;
    }
    const state = await sources.check(candidate.signal);
    if (!state.stands) report('withheld', state.why);
    else if (known.some((knownFeatures) => isNearDuplicate(knownFeatures, features))) report('known', 'already in memory or suggested');
    else {
      report(config.promotion === 'propose' ? 'proposed' : 'promoted');
      known.push(features);
      chosen.push(toPromotion(candidate, now()));
    }
  }
  const exam = await deps.exam?.(chosen);
  const passed = exam?.promotions ?? chosen;
  withhold(candidates, new Set(chosen.filter((promotion) => !passed.includes(promotion)).map(({ contentHash }) => contentHash)));
  if (config.promotion === 'propose') await log.add(passed);
  else if (passed.length > 0) await promoter.promote(passed);
  const proposed = config.promotion === 'propose' ? passed.length : 0;
  return {
    phase: 'DEEP',
    promotedCount: interrupted.length + passed.length - proposed,
    proposedCount: proposed,
    finishedCount: interrupted.length,
    candidates,
    problems: [...broken, ...(await signals.brokenLines())],
    ...(exam && { exam: exam.report }),
  };
}

/** Marks candidates that the exam turned down. */
function withhold(candidates: CandidateReport[], turnedDown: ReadonlySet<string>): void {
  for (const candidate of candidates)
    if (turnedDown.has(candidate.contentHash)) Object.assign(candidate, { outcome: 'withheld', reason: EXAM_REASON });
}

/** The current content of the long-term memory and `DREAMS.md`, whoever wrote it. */
async function readMemoryFeatures({ workspace, longTermFile }: DeepPhaseDeps): Promise<TextFeatures[]> {
  const files = await Promise.all([longTermFile, DREAMS_FILE].map((path) => workspace.read(path)));
  return files.flatMap((file) =>
    parseMemories(file ?? '').map((block) => extractFeatures(block.kind === 'memory' ? block.memory.text : block.text)),
  );
}

function toPromotion({ signal, score, components }: Candidate, at: number): Promotion {
  const { contentHash, content, sourceRef, createdAt, tags } = signal;
  const category = tags.map((tag) => tag.toLowerCase()).find(isCategory) ?? MemoryCategory.FACT;
  return { state: 'proposed', contentHash, content, category, sourceRef, createdAt, score, components: components.toDict(), at };
}

const toCandidateReport = (
  { signal, score, components }: Candidate,
  outcome: CandidateReport['outcome'],
  reason?: string,
): CandidateReport => ({
  contentHash: signal.contentHash,
  content: signal.content,
  sourceRef: signal.sourceRef,
  score,
  components: components.toDict(),
  outcome,
  ...(reason !== undefined && { reason }),
});
