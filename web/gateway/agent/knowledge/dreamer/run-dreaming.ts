import type { DreamRun } from '#shared/rpc/methods/dreaming-contracts.ts';
import type { DreamingPhases } from '../../../knowledge/dreaming/dreaming-phases.ts';
import type { DeepReport, LightReport, RemReport } from '../../../knowledge/dreaming/phase-report.ts';
import type { RunLog } from './run-log.ts';

/** Maximum number of candidates, and of problems, recorded per run. */
const MAX_RECORDED = 20;

interface DreamDeps {
  phases: DreamingPhases;
  log: RunLog;
  /** Adds recalls since the last time to the signals. */
  collectRecalls(): Promise<number>;
  now(): number;
  /** Records the origins of what the phases have written. */
  recordOrigins(run: DreamRun): Promise<void>;
  /** Called when the run enters another phase or ends. */
  onChange(run: DreamRun): void;
}

/** Runs the phases in order and records progress and results. Rejects with the error of a failed phase, after recording it. */
export async function runDreaming(
  initial: DreamRun,
  { phases, log, collectRecalls, now, recordOrigins, onChange }: DreamDeps,
): Promise<DreamRun> {
  let run = initial;
  const update = async (change: Partial<DreamRun>): Promise<void> => {
    run = { ...run, ...change };
    await log.put(run);
    onChange(run);
  };
  try {
    for (const phase of initial.phases) {
      await update({ phase });
      if (phase === 'LIGHT') {
        const recalls = await collectRecalls();
        run = withLight(run, await phases.runPhase(phase), recalls);
      } else if (phase === 'REM') run = withRem(run, await phases.runPhase(phase));
      else run = withDeep(run, await phases.runPhase(phase));
    }
    await recordOrigins(run);
    await update({ state: 'completed', phase: null, finishedAt: now() });
    return run;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // If this cannot be written either, the run is later listed as interrupted.
    await update({ state: 'failed', phase: null, finishedAt: now(), error: message }).catch(() => {});
    throw error;
  }
}

const withProblems = (run: DreamRun, { problems }: Pick<LightReport, 'problems'>): DreamRun => ({
  ...run,
  problems: [
    ...run.problems,
    ...problems.filter(
      (problem) => !run.problems.some(({ path, line, why }) => path === problem.path && line === problem.line && why === problem.why),
    ),
  ].slice(0, MAX_RECORDED),
});

function withLight(run: DreamRun, report: LightReport, recalls: number): DreamRun {
  const { collected, seenAgain, removed, total, untrusted } = report;
  return { ...withProblems(run, report), light: { recalls, collected, seenAgain, removed, total, untrusted } };
}

function withRem(run: DreamRun, report: RemReport): DreamRun {
  const { themes, byModel, path } = report;
  return { ...withProblems(run, report), rem: { themes: themes.map(({ terms }) => terms), byModel, path } };
}

function withDeep(run: DreamRun, report: DeepReport): DreamRun {
  const { promotedCount: promoted, proposedCount: proposed, finishedCount: finished, candidates } = report;
  const deep = {
    promoted,
    proposed,
    finished,
    candidates: candidates.slice(0, MAX_RECORDED),
    more: Math.max(0, candidates.length - MAX_RECORDED),
  };
  return { ...withProblems(run, report), deep, ...(report.exam && { exam: report.exam }) };
}
