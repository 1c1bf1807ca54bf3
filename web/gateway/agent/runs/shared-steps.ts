import { truncateMiddle } from '#shared/truncate-text.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { MessageRecord, RunStep, SharedStep, StepResult } from '../../storage/vault-interface.ts';

/** Maximum characters of a run's steps in the journal, which stores the whole record with each step. */
const MAX_SHARED_CHARS = 64 * 1024;
/** Maximum characters of a result if the steps are longer than that. */
const MAX_RESULT_CHARS = 2000;

/** The part of a step's message that is stored during the run. */
export function toStepOutput({ content, toolCalls, model, timestamp, reasoning, outside, providerState }: MessageRecord): RunStep['said'] {
  return {
    ...{ content, toolCalls, model, timestamp },
    ...(reasoning ? { reasoning } : {}),
    ...(outside ? { outside } : {}),
    ...(providerState ? { providerState } : {}),
  };
}

/**
 * The steps of a run for the journal. If they are too long, results are truncated and thoughts omitted; undefined if they are still too
 * long. `underWay`: results of the last step's calls.
 */
export function toSharedSteps(
  messages: readonly MessageRecord[],
  underWay: ReadonlyMap<string, StepResult['result']>,
): SharedStep[] | undefined {
  const steps: SharedStep[] = [];
  for (const message of messages) {
    const { role, toolCallId, content, timestamp, outside } = message;
    if (role === 'assistant') steps.push({ said: toStepOutput(message), results: [] });
    else if (toolCallId !== undefined) steps.at(-1)?.results.push([toolCallId, { content, timestamp, ...(outside ? { outside } : {}) }]);
  }
  steps.at(-1)?.results.push(...underWay);
  const isShort = (shared: readonly SharedStep[]): boolean => JSON.stringify(shared).length <= MAX_SHARED_CHARS;
  if (isShort(steps)) return steps;
  const cut = steps.map(toTruncated);
  return isShort(cut) ? cut : undefined;
}

const toTruncated = ({ said: { reasoning: _, providerState: __, ...said }, results }: SharedStep): SharedStep => ({
  said,
  results: results.map(([id, result]) => [id, { ...result, content: truncateMiddle(toPlainText(result.content), MAX_RESULT_CHARS) }]),
});
