import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SubAgentLabel, Usage } from '#shared/rpc/record-schemas.ts';
import { sumUsage } from '../../providers/sum-usage.ts';
import { formatAmount } from '../budgets/budget-error.ts';
import type { ModelUsage } from './generate.ts';
import type { Models } from './run-types.ts';

/** Limits of a sub-agent's own usage. */
export interface SubAgentBudget {
  tokens?: number | undefined;
  usd?: number | undefined;
}

/** Share of a sub-agent's budget from which it has to answer. */
const WRAP_UP_SHARE = 0.8;

interface RunTreeOptions {
  parent?: RunTreeNode;
  /** Scopes of the budgets that its usage counts for; none by default. */
  scopes?: readonly string[];
  /** For a sub-agent, whose runs are below it. */
  subAgent?: {
    /** Undefined if its work is not stored. */
    label?: SubAgentLabel | undefined;
    budget?: SubAgentBudget | undefined;
  };
}

/** A run, or a sub-agent, in the tree of a run and all that works for it. It lasts as long as the run at the top. */
export class RunTreeNode {
  /** Number of sub-agents from the top to here. */
  readonly depth: number;
  readonly root: RunTreeNode;
  /** Number of the sub-agent in the tree, from 1; 0 for a run. */
  readonly number: number;
  /** The sub-agent that the node is, or belongs to. */
  readonly label: SubAgentLabel | undefined;
  /** Number of sub-agents that were started in the tree; counted at its root. */
  started = 0;
  readonly #parent: RunTreeNode | undefined;
  readonly #scopes: readonly string[];
  readonly #budget: SubAgentBudget;
  readonly #children: RunTreeNode[] = [];
  /** Own usage by model, while the run lasts. */
  readonly #shares: ModelUsage[] = [];
  #isRecorded = false;
  /** Sub-agents that are working, and those that wait for their turn. */
  #active = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ parent, scopes = [], subAgent }: RunTreeOptions = {}) {
    this.#parent = parent;
    this.#scopes = scopes;
    this.#budget = subAgent?.budget ?? {};
    this.label = subAgent?.label ?? parent?.label;
    this.root = parent?.root ?? this;
    this.number = subAgent ? ++this.root.started : 0;
    this.depth = (parent?.depth ?? 0) + (subAgent ? 1 : 0);
    if (parent) parent.#children.push(this);
  }

  /** Usage of the node's own run by model. */
  get shares(): ModelUsage[] {
    return this.#shares;
  }

  /** Scopes of the budgets that everything below this node counts for. */
  get scopes(): readonly string[] {
    return [...new Set([...this.#scopes, ...(this.#parent?.scopes ?? [])])];
  }

  /** Usage of everything below the node; undefined if there is none. */
  get usageBelow(): Usage | undefined {
    return sumAll(this.#children.map(({ usage }) => usage));
  }

  /** Usage of the node and everything below it; undefined if there is none. */
  get usage(): Usage | undefined {
    return sumAll([...this.#shares.map(({ usage }) => usage), this.usageBelow]);
  }

  /** Why the next step has to be the last one: most of a budget of a sub-agent is used up. */
  get wrapUpReason(): string | undefined {
    for (const { node, limit, used } of this.#listBudgets())
      if (used >= limit * WRAP_UP_SHARE)
        return node === this.#parent ? 'Most of your budget is used up.' : 'Most of the budget is used up.';
    return undefined;
  }

  /** The usage is stored, and counts for stored totals from now on. */
  setRecorded(): void {
    this.#isRecorded = true;
  }

  /** Rejects if a budget of this run, or of one above it, is used up. */
  async checkBudgets(key: string, check: Models['checkBudgets']): Promise<void> {
    for (const { limit, used, measure } of this.#listBudgets()) {
      if (used < limit) continue;
      const amounts = `${formatAmount(used, measure)} of ${formatAmount(limit, measure)}${measure === 'tokens' ? ' tokens' : ''}`;
      throw new RpcError('RATE_LIMITED', `The sub-agent’s budget is used up: ${amounts}.`, { details: { limit: 'sub_agent_budget' } });
    }
    for (const node of this.#listUp()) if (node.#scopes.length > 0) await check?.(key, node.#scopes, node.#listUnrecorded());
  }

  /**
   * Resolves when fewer than `maxParallel` sub-agents of this run work; the result ends the turn. Rejects with the signal's reason. They wait
   * for sub-agents of the same run only, so that none waits for itself.
   */
  async takeTurn(maxParallel: number, signal: AbortSignal): Promise<() => void> {
    while (this.#active >= maxParallel) {
      const turn = Promise.withResolvers<void>();
      const onabort = (): void => turn.reject(signal.reason);
      this.#waiting.push(turn.resolve);
      signal.addEventListener('abort', onabort, { once: true });
      if (signal.aborted) onabort();
      try {
        await turn.promise;
      } catch (error) {
        const index = this.#waiting.indexOf(turn.resolve);
        if (index === -1) this.#waiting.shift()?.();
        else this.#waiting.splice(index, 1);
        throw error;
      } finally {
        signal.removeEventListener('abort', onabort);
      }
    }
    signal.throwIfAborted();
    this.#active++;
    return () => {
      this.#active--;
      this.#waiting.shift()?.();
    };
  }

  /** This node and all above it. */
  #listUp(): RunTreeNode[] {
    return [this, ...(this.#parent ? this.#parent.#listUp() : [])];
  }

  #listBudgets(): { node: RunTreeNode; measure: 'tokens' | 'cost'; limit: number; used: number }[] {
    return this.#listUp().flatMap((node) => {
      const { tokens, usd } = node.#budget;
      const { totalTokens = 0, cost = 0 } = (tokens ?? usd) === undefined ? {} : (node.usage ?? {});
      return [
        ...(tokens === undefined ? [] : [{ node, measure: 'tokens' as const, limit: tokens, used: totalTokens }]),
        ...(usd === undefined ? [] : [{ node, measure: 'cost' as const, limit: usd, used: cost }]),
      ];
    });
  }

  #listUnrecorded(): ModelUsage[] {
    return [...(this.#isRecorded ? [] : this.#shares), ...this.#children.flatMap((child) => child.#listUnrecorded())];
  }
}

const sumAll = (all: readonly (Usage | undefined)[]): Usage | undefined =>
  all.reduce((sum, usage) => (sum && usage ? sumUsage(sum, usage) : (sum ?? usage)), undefined);
