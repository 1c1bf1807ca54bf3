import { toBase64url } from '#shared/base64.ts';
import type { AccessGrant } from '#shared/ports/access-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { KeyEntry, KeyLimits, KeyRecord } from '#shared/rpc/methods/key-contracts.ts';
import { allowsScope, joinScopes, type Scope, splitScopes } from '#shared/rpc/scopes.ts';
import { sha256 } from '#shared/sha256.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Clock } from '#shared/async/clock.ts';
import { toKeySource } from '../../agent/trust/content-sources.ts';
import type { Lazy } from '../../system/modules.ts';
import { RateLimit } from '../../system/rate-limit.ts';
import type { Collection, Vault } from '../../storage/vault-interface.ts';
import type { Budgets } from '../../agent/budgets/budgets.ts';
import type { UsageSum } from '../../agent/budgets/usage-totals.ts';

/** Prefix of every secret, so that a leaked one can be recognized. */
const KEY_PREFIX = 'sk-perch-';
const HINT_CHARS = 4;
const MINUTE_MS = 60_000;
/** Interval at which the use of a key is stored. */
const USE_INTERVAL_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MAX_KEYS = 1000;
const UNLIMITED: KeyLimits = { requestsPerMinute: null, tokensPerMinute: null, monthlyBudget: null };

interface ApiKeysDeps {
  vault: Vault;
  clock: Clock;
  accessControl: AccessControl;
  budgets: Lazy<Budgets>;
  fault(error: unknown): unknown;
}

type LimitChanges = { [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined };

/** API keys for programs, with their scopes and limits. They are stored in the vault, so that a key works at any host. */
export class ApiKeys {
  readonly #deps: ApiKeysDeps;
  readonly #records: Collection<KeyRecord>;
  readonly #requests = new Map<string, { perMinute: number; limit: RateLimit }>();
  /** Unstored usage by key. */
  readonly #unstored = new Map<string, { at: number; scopes: Set<Scope> }>();
  /** Cancel functions of scheduled stores. */
  readonly #flushes = new Map<string, () => void>();
  /** Monotonic times of the last stores. */
  readonly #flushedAt = new Map<string, number>();

  constructor(deps: ApiKeysDeps) {
    this.#deps = deps;
    this.#records = deps.vault.collection('apiKeys');
  }

  async list(): Promise<(KeyEntry & { month: Omit<UsageSum, 'unpricedCalls'> })[]> {
    const records = (await this.#records.list()).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    const usageOf = await (await this.#deps.budgets.load()).totals.read();
    return records.map((record) => {
      const { calls, totalTokens, cost } = usageOf(toPrincipal(record.id)).month;
      return { ...toKeyEntry(record), month: { calls, totalTokens, cost } };
    });
  }

  /** Creates a key; its secret is not stored. Throws `INVALID_PARAMS` if there are too many keys. */
  async create(name: string, scopes: readonly Scope[], limits: LimitChanges): Promise<{ key: KeyEntry; secret: string }> {
    if ((await this.#records.list()).length >= MAX_KEYS)
      throw new RpcError('INVALID_PARAMS', `The limit of ${MAX_KEYS} keys is reached. Revoke one first.`);
    const secret = KEY_PREFIX + toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const record: KeyRecord = {
      id: crypto.randomUUID(),
      name,
      hint: secret.slice(-HINT_CHARS),
      ...splitScopes(scopes),
      limits: { ...UNLIMITED, ...removeUndefined(limits) },
      createdAt: this.#deps.clock.now(),
      lastUsedAt: null,
      tokenHash: await sha256(secret),
    };
    await this.#records.put(record);
    await this.#deps.accessControl.refresh();
    return { key: toKeyEntry(record), secret };
  }

  /** Throws `NOT_FOUND`. */
  async update(
    id: string,
    { name, scopes, limits }: { name?: string | undefined; scopes?: readonly Scope[] | undefined; limits?: LimitChanges | undefined },
  ): Promise<KeyEntry> {
    const after = await this.#records.update(id, (before) => {
      if (!before) return undefined;
      const { areas, ...rest } = before;
      const parsedScopes = scopes ? splitScopes(scopes) : { scopes: before.scopes, ...(areas ? { areas } : {}) };
      return {
        ...rest,
        ...(name === undefined ? {} : { name }),
        ...parsedScopes,
        limits: { ...before.limits, ...removeUndefined(limits ?? {}) },
      };
    });
    if (!after) throw createNotFoundError();
    await this.#deps.accessControl.refresh();
    return toKeyEntry(after);
  }

  /** Resolves when the key is revoked and its program's connections are closed. Throws `NOT_FOUND`. */
  async revoke(id: string): Promise<void> {
    if (!(await this.#records.remove(id))) throw createNotFoundError();
    this.#requests.delete(id);
    await this.#deps.accessControl.revoke(toPrincipal(id));
  }

  /**
   * Checks the limits before a principal calls a model. Throws `RATE_LIMITED` with the retry time if a key has exhausted a limit, and
   * `AUTH_REQUIRED` if it was revoked, or has limits and wants `unattended` work, which cannot be counted for it. Pending calls are not
   * counted: several at a time may exceed a token limit or the budget together.
   */
  async admit(principal: string, unattended = false): Promise<void> {
    const id = getKeyId(principal);
    if (id === undefined) return;
    const record = await this.#records.get(id);
    if (!record) throw new RpcError('AUTH_REQUIRED', 'The API key was revoked.');
    const { requestsPerMinute, tokensPerMinute } = record.limits;
    const budgets = await this.#deps.budgets.load();
    if (unattended) {
      if (Object.values(record.limits).every((limit) => limit === null) && !(await budgets.has(principal))) return;
      throw new RpcError('AUTH_REQUIRED', 'API keys with limits can’t schedule work, because limits don’t apply to scheduled runs.');
    }
    await budgets.check([principal]);
    if (tokensPerMinute !== null) {
      const { minute } = (await budgets.totals.read())(principal);
      let tokens = minute.reduce((sum, call) => sum + call.tokens, 0);
      if (tokens >= tokensPerMinute) {
        const freeing = minute.find((call) => (tokens -= call.tokens) < tokensPerMinute);
        const wait = (freeing?.at ?? 0) + MINUTE_MS - this.#deps.clock.now();
        throw createLimitError(
          `This API key has reached its limit of ${tokensPerMinute} tokens per minute. Try again later.`,
          Math.max(1, wait),
          'tokens',
        );
      }
    }
    const wait = requestsPerMinute === null ? 0 : this.#getLimit(id, requestsPerMinute).consume();
    if (wait > 0)
      throw createLimitError(
        `This API key has reached its limit of ${requestsPerMinute} requests per minute. Try again later.`,
        wait,
        'requests',
      );
  }

  /** Scopes of a key, none if it was revoked; undefined if the principal is not a key. */
  async getScopes(principal: string): Promise<readonly Scope[] | undefined> {
    const id = getKeyId(principal);
    if (id === undefined) return undefined;
    const record = await this.#records.get(id);
    return record ? joinScopes(record) : [];
  }

  /** The source of content written by a key, unless the key has all scopes of an agent. */
  async getSources(principal: string): Promise<readonly string[]> {
    const id = getKeyId(principal);
    if (id === undefined) return [];
    const record = await this.#records.get(id);
    return record && allowsScope(joinScopes(record), 'write') ? [] : [toKeySource(id, record?.name ?? '')];
  }

  /** Records that the principal has connected or made a request, if it is a key. */
  async recordActivity(principal: string): Promise<void> {
    await this.#recordUse(principal);
  }

  /** Records that a call or tool of the principal has used a scope, if it is a key. */
  async recordScopeUse(principal: string, scope: Scope): Promise<void> {
    await this.#recordUse(principal, scope);
  }

  stop(): void {
    for (const cancel of this.#flushes.values()) cancel();
  }

  /** Stores the usage of a key at most once a minute: the first at once, later ones together. */
  async #recordUse(principal: string, scope?: Scope): Promise<void> {
    const id = getKeyId(principal);
    if (id === undefined) return;
    const { clock, fault } = this.#deps;
    const { scopes } = this.#unstored.get(id) ?? { scopes: new Set<Scope>() };
    if (scope) scopes.add(scope);
    this.#unstored.set(id, { at: clock.now(), scopes });
    if (this.#flushes.has(id)) return;
    const wait = USE_INTERVAL_MS - (clock.monotonic() - (this.#flushedAt.get(id) ?? -Infinity));
    if (wait <= 0) return this.#flush(id);
    this.#flushes.set(
      id,
      clock.after(wait, () => void this.#flush(id).catch(fault)),
    );
  }

  async #flush(id: string): Promise<void> {
    const unstored = this.#unstored.get(id);
    this.#unstored.delete(id);
    this.#flushes.delete(id);
    this.#flushedAt.set(id, this.#deps.clock.monotonic());
    if (!unstored) return;
    const day = unstored.at - (unstored.at % DAY_MS);
    const times = Object.fromEntries([...unstored.scopes].map((scope) => [scope, day]));
    await this.#records.update(id, (before) => {
      if (!before) return undefined;
      const { since = unstored.at, scopes = {} } = before.use ?? {};
      return { ...before, lastUsedAt: unstored.at, use: { since, scopes: { ...scopes, ...times } } };
    });
  }

  async listGrants(): Promise<AccessGrant[]> {
    return (await this.#records.list()).map(({ id, tokenHash, scopes, areas }) => ({
      ...{ principal: toPrincipal(id), tokenHash, scopes },
      ...(areas ? { areas } : {}),
    }));
  }

  readonly toPrincipal = toPrincipal;

  #getLimit(id: string, perMinute: number): RateLimit {
    const known = this.#requests.get(id);
    if (known?.perMinute === perMinute) return known.limit;
    const limit = new RateLimit(this.#deps.clock, { perMinute, burst: perMinute });
    this.#requests.set(id, { perMinute, limit });
    return limit;
  }
}

const toPrincipal = (id: string): string => `key:${id}`;
const getKeyId = (principal: string): string | undefined => /^key:(.+)$/.exec(principal)?.[1];
const createNotFoundError = (): RpcError => new RpcError('NOT_FOUND', 'API key not found.');

const createLimitError = (message: string, waitMs: number, limit: 'tokens' | 'requests'): RpcError =>
  new RpcError('RATE_LIMITED', message, { details: { limit }, retryable: true, retryAfterMs: Math.ceil(waitMs) });

const toKeyEntry = ({ tokenHash: _, scopes, areas, use, ...entry }: KeyRecord): KeyEntry => ({
  ...entry,
  scopes: joinScopes({ scopes, areas }),
  use: use ? { since: use.since, scopes: { ...use.scopes } as Record<string, number> } : null,
});

/** Removes undefined limits. */
const removeUndefined = (limits: LimitChanges): Partial<KeyLimits> =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as Partial<KeyLimits>;
