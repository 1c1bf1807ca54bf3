import { MAX_MINUTES, MAX_STEPS } from '../../config/sections/run-limits.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import type { RoutedCall } from '../../storage/records/routed-call.ts';
import { addText } from './run-context.ts';

/** How often in a row the same calls may have the same results. */
const MAX_REPEATS = 3;
/** Maximum number of steps in a cycle that is recognized as a loop. */
const MAX_CYCLE = 3;

export interface Limits {
  /** Maximum number of provider calls; the last one offers no tools. */
  maxSteps?: number;
  /** Minutes after which the next provider call is the last one. */
  maxMinutes?: number;
  /** Why the next provider call has to be the last one, in a sentence for the model; undefined if it need not be. */
  wrapUpReason?: () => string | undefined;
}

/** Why a run has to end: as an instruction to the model, and as an error if the model does not answer then either. */
interface LimitReason {
  forModel: string;
  error: string;
}

interface Step {
  calls: string;
  results: readonly ModelMessage['content'][];
}

/** Decides when a run has to end: after its steps, after its time, or when it repeats the same tool calls without a new result. */
export class RunLimits {
  readonly #maxSteps: number;
  readonly #maxMinutes: number;
  readonly #wrapUpReason: () => string | undefined;
  readonly #startedAt: number;
  readonly #steps: Step[] = [];

  constructor({ maxSteps = MAX_STEPS, maxMinutes = MAX_MINUTES, wrapUpReason = () => undefined }: Limits, startedAt: number) {
    this.#maxSteps = maxSteps;
    this.#maxMinutes = maxMinutes;
    this.#wrapUpReason = wrapUpReason;
    this.#startedAt = startedAt;
  }

  /** Records a step's calls and their results, in the same order. */
  addStep(calls: readonly RoutedCall[], results: readonly ModelMessage['content'][]): void {
    this.#steps.push({ calls: JSON.stringify(calls.map(({ tool, args }) => [tool, args])), results });
    if (this.#steps.length > MAX_CYCLE * MAX_REPEATS) this.#steps.shift();
  }

  /** Why the given step, counted from 1, has to be the last. Undefined if it need not be. */
  getReason(step: number, now: number): LimitReason | undefined {
    if (step >= this.#maxSteps)
      return {
        forModel: `This turn has taken all of its ${step} steps.`,
        error: `The model did not reply within ${step} steps. To allow more, raise chat.maxSteps.`,
      };
    if (now - this.#startedAt >= this.#maxMinutes * 60_000)
      return {
        forModel: `This turn has taken all of its ${this.#maxMinutes} minutes.`,
        error: `The model did not reply within ${this.#maxMinutes} minutes. To allow more, raise chat.maxMinutes.`,
      };
    const wrapUpReason = step > 1 ? this.#wrapUpReason() : undefined;
    if (wrapUpReason !== undefined)
      return { forModel: wrapUpReason, error: 'The sub-agent’s budget was nearly used up, and its model did not answer then.' };
    if (this.#isLoop())
      return {
        forModel: `The same tool calls had the same results ${MAX_REPEATS} times in a row.`,
        error: `The model made the same tool calls ${MAX_REPEATS} times with the same results, and then did not answer. Ask in other words, or choose another model.`,
      };
    return undefined;
  }

  #isLoop(): boolean {
    for (let cycle = 1; cycle <= MAX_CYCLE; cycle++) {
      const last = this.#steps.slice(-cycle * MAX_REPEATS);
      if (last.length === cycle * MAX_REPEATS && last.every((step, index) => index < cycle || isSame(step, last[index - cycle])))
        return true;
    }
    return false;
  }
}

const isSame = (step: Step, other: Step | undefined): boolean =>
  step.calls === other?.calls && JSON.stringify(step.results) === JSON.stringify(other.results);

/** The messages for the last step. The notice is in the last message, because the start of a prompt should not change. */
export function toFinalStepMessages(messages: readonly ModelMessage[], { forModel }: LimitReason): ModelMessage[] {
  const notice = `[${forModel} Answer now, without tools: what was done, and what is left to do.]`;
  const last = messages.at(-1);
  return last ? [...messages.slice(0, -1), addText(last, notice, 'after')] : [];
}
