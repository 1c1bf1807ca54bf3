import type { Clock } from '#shared/async/clock.ts';
import type { Budget, BudgetGauge, BudgetLimits, PeriodUsage } from '#shared/rpc/methods/budget-contracts.ts';
import type { BudgetPeriod } from '#shared/rpc/budget-period.ts';
import type { KeyRecord } from '#shared/rpc/methods/key-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { BudgetRecord } from '../../storage/records/budget-record.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { Agents } from '../agents.ts';
import { createBudgetError, describeBudget, formatAmount } from './budget-error.ts';
import { cleanLimits, computeGauges, computePeriods, forecastUsage, hasLimits, type Spending } from './budget-gauges.ts';
import { VAULT_SCOPE } from './budget-scopes.ts';
import { UsageTotals } from './usage-totals.ts';

/** Maximum number of budgets; far more than a person sets. */
const MAX_BUDGETS = 2000;

export interface BudgetsDeps {
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  agents: Agents;
  settings(): Settings;
  timeZone(): string;
  log: LogWriter;
  fault(error: unknown): unknown;
  /** Called when the vault's budget has changed: decisions of the fast path are no longer valid. */
  withdrawRoutes(): void;
}

/** Limits for usage and cost. Their records are few, and held in memory. */
export class Budgets {
  readonly totals: UsageTotals;
  readonly #deps: BudgetsDeps;
  readonly #records = new Map<string, BudgetRecord>();
  readonly #stopFollowing: () => void;

  private constructor(deps: BudgetsDeps) {
    this.#deps = deps;
    this.totals = new UsageTotals({ usage: deps.vault.usage, clock: deps.clock, timeZone: () => deps.timeZone() });
    this.#stopFollowing = deps.vault.onRemoteChanges((changes) => {
      const stores = new Set(changes.map(({ store }) => store));
      if (stores.has('usage')) this.totals.markStale();
      if (stores.has('budgets')) this.#reload().catch(deps.fault);
    });
  }

  static async open(deps: BudgetsDeps): Promise<Budgets> {
    const budgets = new Budgets(deps);
    await budgets.#reload();
    return budgets;
  }

  /** Whether calls have to be checked that no run and no key makes. */
  get hasVaultBudget(): boolean {
    return this.#records.has(VAULT_SCOPE);
  }

  /**
   * Checks the budgets of a call before it is made. Rejects with `RATE_LIMITED` if one is used up. `running`: usage of the run that is not
   * recorded yet. Other calls in progress are not counted: together they may exceed a limit.
   */
  async check(scopes: readonly string[], running?: Spending): Promise<void> {
    const records = await this.#findRecords(scopes);
    if (records.length === 0) return;
    const { clock, timeZone } = this.#deps;
    const usageOf = await this.totals.read();
    const periods = computePeriods(clock.now(), timeZone());
    for (const record of records) {
      const gauges = computeGauges(record, usageOf(record.id), periods, running);
      const reached = gauges.find(({ state }) => state === 'reached');
      if (reached) throw createBudgetError(record.id, (await this.#findName(record.id)) ?? null, reached, timeZone());
      for (const gauge of gauges.filter(({ state }) => state === 'near')) await this.#warn(record, gauge, periods.firstDates[gauge.period]);
    }
  }

  /** Whether a scope has a limit. */
  async has(scope: string): Promise<boolean> {
    return (await this.#findRecords([scope])).length > 0;
  }

  /** The budgets, or only that of `scope`. Budgets of removed chats, jobs, channels, keys and agents are left out. */
  async list(scope?: string): Promise<{ budgets: Budget[]; usage: Record<BudgetPeriod, PeriodUsage> }> {
    const { clock, timeZone, vault } = this.#deps;
    const keys = scope === undefined ? (await vault.collection('apiKeys').keys()).map((id) => `key:${id}`) : [];
    const scopes = scope === undefined ? [...new Set([VAULT_SCOPE, ...[...this.#records.keys()].sort(), ...keys])] : [scope];
    const records = await this.#findRecords(scopes);
    const usageOf = await this.totals.read();
    const now = clock.now();
    const periods = computePeriods(now, timeZone());
    const budgets = await Promise.all(
      records.map(async (record) => {
        const name = await this.#findName(record.id);
        return name === undefined
          ? []
          : [{ scope: record.id, name, limits: record.limits, gauges: computeGauges(record, usageOf(record.id), periods) }];
      }),
    );
    const vaultUsage = usageOf(VAULT_SCOPE);
    return {
      budgets: budgets.flat(),
      usage: { day: forecastUsage(vaultUsage.day, 'day', periods, now), month: forecastUsage(vaultUsage.month, 'month', periods, now) },
    };
  }

  /** Replaces the limits of a scope; null removes them. Throws `NOT_FOUND` if there is nothing with this scope. */
  async set(scope: string, limits: BudgetLimits | null): Promise<Budget | null> {
    const cleaned = cleanLimits(limits ?? {});
    if (hasLimits(cleaned) && (await this.#findName(scope)) === undefined) throw createNotFoundError(scope);
    const collection = this.#deps.vault.collection('budgets');
    const stored = await this.#moveKeyLimit(scope, cleaned);
    if (!hasLimits(stored)) await collection.remove(scope);
    else if (this.#records.size >= MAX_BUDGETS && !this.#records.has(scope))
      throw new RpcError('INVALID_PARAMS', `The limit of ${MAX_BUDGETS} budgets is reached. Remove one first.`);
    else await collection.put({ id: scope, limits: stored });
    await this.#handleChange(scope);
    return (await this.list(scope)).budgets[0] ?? null;
  }

  /** Allows calls until the day ends, although the budget of that period is used up. Throws `NOT_FOUND`. */
  async continue(scope: string, period: BudgetPeriod): Promise<Budget> {
    const [record] = await this.#findRecords([scope]);
    if (!record?.limits[period]) throw createNotFoundError(scope);
    const { date } = computePeriods(this.#deps.clock.now(), this.#deps.timeZone());
    await this.#change(scope, (before) => ({ ...before, continued: { ...before.continued, [period]: date } }));
    await this.#handleChange(scope);
    const [budget] = (await this.list(scope)).budgets;
    if (!budget) throw createNotFoundError(scope);
    this.#deps.log.write('info', 'budgets', `${describeBudget(scope, budget.name, period)} was continued for today`, { scope });
    return budget;
  }

  stop(): void {
    this.#stopFollowing();
  }

  async #reload(): Promise<void> {
    const hadVaultBudget = this.hasVaultBudget;
    const records = await this.#deps.vault.collection('budgets').list();
    this.#records.clear();
    for (const record of records) this.#records.set(record.id, record);
    if (this.hasVaultBudget !== hadVaultBudget) this.#deps.withdrawRoutes();
  }

  async #handleChange(scope: string): Promise<void> {
    await this.#reload();
    this.#deps.hub.emit({ event: 'budgets.changed', payload: { scope } }, null);
  }

  /** Records with limits. The monthly cost of a key is one of its own settings. */
  async #findRecords(scopes: readonly string[]): Promise<BudgetRecord[]> {
    const records = await Promise.all(
      scopes.map(async (scope): Promise<BudgetRecord> => {
        const record = this.#records.get(scope) ?? { id: scope, limits: {} };
        const cost = scope.startsWith('key:') ? (await this.#getKey(scope))?.limits.monthlyBudget : undefined;
        return typeof cost === 'number' ? { ...record, limits: { ...record.limits, month: { ...record.limits.month, cost } } } : record;
      }),
    );
    return records.filter(({ limits }) => hasLimits(limits));
  }

  #getKey(scope: string): Promise<KeyRecord | undefined> {
    return this.#deps.vault.collection('apiKeys').get(scope.slice('key:'.length));
  }

  /** Stores the monthly cost of a key in the key. Resolves with the other limits. */
  async #moveKeyLimit(scope: string, limits: BudgetLimits): Promise<BudgetLimits> {
    if (!scope.startsWith('key:')) return limits;
    const { cost = null, ...month } = limits.month ?? {};
    const keys = this.#deps.vault.collection('apiKeys');
    await keys.update(scope.slice('key:'.length), (key) => key && { ...key, limits: { ...key.limits, monthlyBudget: cost } });
    return cleanLimits({ ...limits, month });
  }

  async #change(scope: string, change: (record: BudgetRecord) => BudgetRecord): Promise<void> {
    const changed = await this.#deps.vault.collection('budgets').update(scope, (before) => change(before ?? { id: scope, limits: {} }));
    if (changed) this.#records.set(scope, changed);
  }

  /** Tells people once per budget and period that 80 % are used. */
  async #warn(record: BudgetRecord, gauge: BudgetGauge, firstDate: string): Promise<void> {
    const { period, measure, used, limit } = gauge;
    if (this.#records.get(record.id)?.warned?.[period] === firstDate) return;
    await this.#change(record.id, (before) => ({ ...before, warned: { ...before.warned, [period]: firstDate } }));
    const name = (await this.#findName(record.id)) ?? null;
    const amounts = `${formatAmount(used, measure)} of ${formatAmount(limit, measure)}${measure === 'tokens' ? ' tokens' : ''}`;
    const { log, hub } = this.#deps;
    log.write('warn', 'budgets', `${describeBudget(record.id, name, period)} is almost used up: ${amounts}`, { scope: record.id });
    hub.emit({ event: 'budgets.near', payload: { scope: record.id, name, gauge } }, null);
  }

  /** Name of what has a scope; null for the vault, undefined if it does not exist. */
  async #findName(scope: string): Promise<string | null | undefined> {
    const { vault, agents, settings } = this.#deps;
    const id = scope.slice(scope.indexOf(':') + 1);
    switch (scope.split(':', 1)[0]) {
      case VAULT_SCOPE:
        return null;
      case 'agent':
        return agents.list().find((agent) => agent.id === id)?.name;
      case 'job':
        return (await vault.collection('jobs').get(id))?.name;
      case 'channel':
        return Object.hasOwn(settings().channels, id) ? id : undefined;
      case 'key':
        return (await this.#getKey(scope))?.name;
      default:
        return (await vault.sessions.get(id))?.title;
    }
  }
}

const createNotFoundError = (scope: string): RpcError => new RpcError('NOT_FOUND', `There is no budget for "${scope}".`);
