import { HOOKS_PATH } from '#shared/http/hook-path.ts';
import {
  type Hook,
  type HookCall,
  HOOK_EVENTS,
  type HookChanges,
  type HookInput,
  type HookPreset,
  MAX_HOOKS,
} from '#shared/rpc/methods/hook-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Agents } from '../../agent/agents.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { HookRecord, IncomingHookRecord, OutgoingHookRecord } from '../../storage/records/hook-records.ts';
import type { Collection, RemoteChange, Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { LogWriter } from '../../system/log/log.ts';
import { JobCoordinator } from '../cron/job-coordinator.ts';
import { CallHandler, type CallHandlerDeps } from './handle-calls.ts';
import { HookCalls, toHookCall } from './hook-calls.ts';
import { IncomingHooks } from './incoming-hooks.ts';
import { OutgoingHooks, type OutgoingHooksDeps } from './outgoing-hooks.ts';
import { findUnknownPlaceholder } from './render-template.ts';
import { createHookSecret, parseHookSecret } from './standard-webhooks.ts';
import { watchEvents } from './watch-events.ts';

/** How long the secret before a rotation stays valid. */
const ROTATION_MS = 24 * 3_600_000;
const HINT_CHARS = 4;
/** Platforms that give the secret themselves. */
const SECRET_GIVERS: readonly HookPreset[] = ['stripe', 'sentry'];

export interface HooksDeps
  extends
    Pick<CallHandlerDeps, 'clock' | 'runs' | 'cron' | 'agentToolkit' | 'deliveries' | 'fault'>,
    Pick<OutgoingHooksDeps, 'fetch' | 'activeOrigins'> {
  vault: Pick<Vault, 'collection' | 'secrets' | 'messages'>;
  hub: EventBus;
  sync: SyncPort | undefined;
  agents: Pick<Agents, 'get'>;
  log: LogWriter & { hide(secrets: Iterable<string>): void };
}

const toSecretName = (name: string): string => `hooks.${name}.secret`;
const toPreviousSecretName = (name: string): string => `hooks.${name}.previousSecret`;

/** Webhooks: receives calls from other services, and sends events to them (docs/decisions/0143-hooks.md). */
export class Hooks {
  readonly #deps: HooksDeps;
  readonly #records: Collection<HookRecord>;
  readonly #calls: HookCalls;
  readonly #incoming: IncomingHooks;
  readonly #handler: CallHandler;
  readonly #outgoing: OutgoingHooks;
  readonly #cleanups: (() => void)[];

  /** Continues at once with the calls that have not ended. */
  constructor(deps: HooksDeps) {
    this.#deps = deps;
    const { vault, clock, sync, hub, fault } = deps;
    this.#records = vault.collection('hooks');
    const calls = new HookCalls(vault.collection('hookCalls'), (name) => this.#emitChange(name));
    this.#calls = calls;
    const coordinator = new JobCoordinator(sync, clock);
    const isActive = (): boolean => coordinator.isActive();
    const findIncoming = async (name: string): Promise<IncomingHookRecord | undefined> => {
      const hook = await this.#records.get(name);
      return hook?.direction === 'in' ? hook : undefined;
    };
    const findOutgoing = async (name: string): Promise<OutgoingHookRecord | undefined> => {
      const hook = await this.#records.get(name);
      return hook?.direction === 'out' ? hook : undefined;
    };
    const getSecrets = (hook: HookRecord): Promise<string[]> => this.#getSecrets(hook);
    this.#handler = new CallHandler({ ...deps, calls, find: findIncoming, isActive });
    this.#incoming = new IncomingHooks({ clock, calls, find: findIncoming, getSecrets, onAdded: () => void this.#handler.start() });
    this.#outgoing = new OutgoingHooks({
      ...{ ...deps, calls, getSecrets, isActive, find: findOutgoing },
      list: async () => (await this.#records.list()).filter((hook) => hook.direction === 'out'),
      disable: async (name, problem) => {
        await this.#change(name, (hook) => (hook.direction === 'out' ? { ...hook, enabled: false, problem } : hook));
        deps.log.write('warn', 'hooks', `${name}: ${problem}`);
      },
    });
    const continueCalls = (): void => {
      void this.#handler.start();
      void this.#outgoing.start();
    };
    this.#cleanups = [
      () => this.#handler.stop(),
      () => this.#outgoing.stop(),
      () => coordinator.stop(),
      sync?.watch(continueCalls) ?? (() => {}),
      watchEvents({
        ...{ hub, vault, fault, since: clock.now(), now: () => clock.now() },
        emit: (...event) => this.#outgoing.emit(...event),
      }),
    ];
    continueCalls();
  }

  /** Called when another host has changed hooks or their calls. */
  handleRemoteChanges(changes: readonly RemoteChange[]): void {
    const names = changes.flatMap(({ store, key }) =>
      store === 'hooks' ? [key] : store === 'hookCalls' ? [key.split('@', 1)[0] ?? ''] : [],
    );
    for (const name of new Set(names)) this.#emitChange(name);
  }

  stop(): void {
    for (const cleanup of this.#cleanups) cleanup();
  }

  /** Answers a request to `/hooks/<name>`. */
  receive(request: Request): Promise<Response> {
    return this.#incoming.receive(request);
  }

  async list(): Promise<Hook[]> {
    return (await this.#records.list()).map((record) => this.#toHook(record));
  }

  /** Creates a hook with a secret. Throws `ALREADY_EXISTS`, `NOT_FOUND` for an agent, job or plan, and `INVALID_PARAMS`. */
  async create(input: HookInput): Promise<{ hook: Hook; secret: string }> {
    const { name } = input;
    if ((await this.#records.keys()).length >= MAX_HOOKS)
      throw new RpcError('INVALID_PARAMS', `The limit of ${MAX_HOOKS} hooks is reached. Delete one first.`);
    const own = input.direction === 'in' ? input.secret : undefined;
    if (input.direction === 'in' && own === undefined && SECRET_GIVERS.includes(input.preset))
      throw new RpcError(
        'INVALID_PARAMS',
        `Pass the secret that ${input.preset === 'stripe' ? 'Stripe' : 'Sentry'} shows for the webhook (\`secret\`).`,
      );
    const secret = own ?? createHookSecret();
    requireSecret(secret, input.direction === 'in' ? input.preset : 'standard');
    const common = {
      ...{ name, enabled: true, createdAt: this.#deps.clock.now() },
      ...{ secretHint: secret.slice(-HINT_CHARS), previousSecretUntil: null },
    };
    let record: HookRecord;
    if (input.direction === 'in') {
      const { preset, events, action } = input;
      record = { ...common, direction: 'in', preset, events, action };
    } else {
      const { url, events, withText, allowPrivate } = input;
      record = { ...common, direction: 'out', url, events, withText, allowPrivate, problem: null };
    }
    await this.#check(record);
    const stored = await this.#records.update(name, (before) => (before ? undefined : record));
    if (stored !== record) throw new RpcError('ALREADY_EXISTS', `A hook named "${name}" exists already.`);
    // Until it has a secret, the hook accepts nothing.
    await this.#deps.vault.secrets.set(toSecretName(name), secret);
    this.#emitChange(name);
    return { hook: this.#toHook(record), secret };
  }

  /** Throws `NOT_FOUND`, and `INVALID_PARAMS` for a change that the hook does not have. */
  async update(name: string, changes: HookChanges): Promise<Hook> {
    const after = applyChanges(await this.#get(name), changes);
    await this.#check(after);
    const stored = await this.#change(name, (before) => applyChanges(before, changes));
    if (after.enabled) void this.#outgoing.start();
    return this.#toHook(stored);
  }

  /** Throws `NOT_FOUND`. */
  async remove(name: string): Promise<void> {
    if (!(await this.#records.remove(name))) throw createNotFoundError(name);
    const { secrets } = this.#deps.vault;
    await Promise.all([secrets.set(toSecretName(name), null), secrets.set(toPreviousSecretName(name), null)]);
    await this.#calls.removeAll(name);
    this.#incoming.forget(name);
    this.#emitChange(name);
  }

  /** Replaces the secret; the one before stays valid for a day. Throws `NOT_FOUND`. */
  async rotate(name: string, own?: string): Promise<{ hook: Hook; secret: string }> {
    const hook = await this.#get(name);
    const preset = hook.direction === 'in' ? hook.preset : 'standard';
    if (own !== undefined && hook.direction === 'out') throw new RpcError('INVALID_PARAMS', '`secret` is for incoming hooks only.');
    if (own === undefined && SECRET_GIVERS.includes(preset))
      throw new RpcError('INVALID_PARAMS', 'Create a new secret at the platform, and pass it as `secret`.');
    const secret = own ?? createHookSecret();
    requireSecret(secret, preset);
    const { secrets } = this.#deps.vault;
    await secrets.set(toPreviousSecretName(name), (await secrets.get(toSecretName(name))) ?? null);
    const until = this.#deps.clock.now() + ROTATION_MS;
    const stored = await this.#change(name, (before) => ({
      ...before,
      ...{ secretHint: secret.slice(-HINT_CHARS), previousSecretUntil: until },
    }));
    await secrets.set(toSecretName(name), secret);
    return { hook: this.#toHook(stored), secret };
  }

  /** Handles a sample call, or sends a test event. Throws `NOT_FOUND`. */
  async test(name: string): Promise<HookCall> {
    const hook = await this.#get(name);
    if (!hook.enabled) throw new RpcError('INVALID_PARAMS', 'The hook is turned off. Turn it on first.');
    return toHookCall(await (hook.direction === 'in' ? this.#incoming.addSample(hook) : this.#outgoing.test(hook)));
  }

  /** Newest first. Throws `NOT_FOUND` for an unknown hook. */
  async listCalls(name: string | undefined, state: HookCall['state'] | undefined, limit: number): Promise<HookCall[]> {
    if (name !== undefined) await this.#get(name);
    const calls = (await this.#calls.list(name)).filter((call) => state === undefined || call.state === state);
    return calls.slice(0, limit).map(toHookCall);
  }

  /** Queues a failed call again. Throws `NOT_FOUND`, and `INVALID_PARAMS` if it has not failed. */
  async resend(id: string): Promise<HookCall> {
    const call = await this.#calls.get(id);
    if (!call) throw new RpcError('NOT_FOUND', `No call with id "${id}".`);
    if (call.state !== 'failed') throw new RpcError('INVALID_PARAMS', 'Only a failed call can be sent again.');
    const now = this.#deps.clock.now();
    const change = {
      state: 'waiting',
      endedAt: null,
      error: null,
      at: now,
      attempts: 0,
      nextAttemptAt: call.direction === 'out' ? now : null,
    } as const;
    const after = (await this.#calls.change(id, change)) ?? { ...call, ...change };
    void (call.direction === 'in' ? this.#handler.start() : this.#outgoing.start());
    return toHookCall(after);
  }

  async #get(name: string): Promise<HookRecord> {
    const hook = await this.#records.get(name);
    if (!hook) throw createNotFoundError(name);
    return hook;
  }

  async #change(name: string, change: (before: HookRecord) => HookRecord): Promise<HookRecord> {
    const after = await this.#records.update(name, (before) => before && change(before));
    if (!after) throw createNotFoundError(name);
    this.#emitChange(name);
    return after;
  }

  async #check(hook: HookRecord): Promise<void> {
    if (hook.direction === 'out') return requireAddress(hook);
    const { action } = hook;
    const { vault, agents } = this.#deps;
    if ('template' in action) {
      const unknown = findUnknownPlaceholder(action.template);
      if (unknown !== undefined)
        throw new RpcError(
          'INVALID_PARAMS',
          `The template has an unknown placeholder "{{${unknown}}}". Use {{message}}, {{event}}, {{body}} or a JSON path such as {{$.issue.title}}.`,
        );
    }
    if (action.kind === 'agent') agents.get(action.agentId);
    if (action.kind === 'job' && !(await vault.collection('jobs').get(action.jobId)))
      throw new RpcError('NOT_FOUND', `No job with id "${action.jobId}".`);
    if (action.kind === 'plan' && !(await vault.collection('plans').get(action.planId)))
      throw new RpcError('NOT_FOUND', `No plan with id "${action.planId}".`);
  }

  async #getSecrets({ name, previousSecretUntil }: HookRecord): Promise<string[]> {
    const { vault, clock, log } = this.#deps;
    const isPreviousValid = previousSecretUntil !== null && previousSecretUntil > clock.now();
    const names = [toSecretName(name), ...(isPreviousValid ? [toPreviousSecretName(name)] : [])];
    const secrets = (await Promise.all(names.map((each) => vault.secrets.get(each)))).filter((secret) => secret !== undefined);
    log.hide(secrets);
    return secrets;
  }

  #toHook(record: HookRecord): Hook {
    if (record.direction === 'out') return record;
    return { ...record, path: HOOKS_PATH + record.name, rejected: this.#incoming.getRejected(record.name) };
  }

  #emitChange(name: string): void {
    this.#deps.hub.emit({ event: 'hook.changed', payload: { name } }, null);
  }
}

const createNotFoundError = (name: string): RpcError => new RpcError('NOT_FOUND', `No hook named "${name}".`);

function requireSecret(secret: string, preset: HookPreset): void {
  if (preset === 'standard' && !parseHookSecret(secret))
    throw new RpcError('INVALID_PARAMS', 'A secret of Standard Webhooks is `whsec_` and 24 to 64 bytes in base64.');
}

function applyChanges(hook: HookRecord, { events, action, url, withText, allowPrivate, enabled }: HookChanges): HookRecord {
  const changed = enabled === undefined ? {} : { enabled };
  if (hook.direction === 'in') {
    if (url !== undefined || withText !== undefined || allowPrivate !== undefined)
      throw new RpcError('INVALID_PARAMS', '`url`, `withText` and `allowPrivate` are for outgoing hooks only.');
    return { ...hook, ...changed, ...(events ? { events } : {}), ...(action ? { action } : {}) };
  }
  if (action) throw new RpcError('INVALID_PARAMS', '`action` is for incoming hooks only.');
  const known = HOOK_EVENTS.filter((event) => events?.includes(event));
  if (events && (known.length !== events.length || known.length === 0))
    throw new RpcError('INVALID_PARAMS', `\`events\` must be some of ${HOOK_EVENTS.join(', ')}.`);
  return {
    ...{ ...hook, ...changed, problem: enabled === true ? null : hook.problem },
    ...(events ? { events: known } : {}),
    ...(url === undefined ? {} : { url }),
    ...(withText === undefined ? {} : { withText }),
    ...(allowPrivate === undefined ? {} : { allowPrivate }),
  };
}

function requireAddress({ url, allowPrivate }: OutgoingHookRecord): void {
  const address = URL.parse(url);
  if (!address || !/^https?:$/.test(address.protocol)) throw new RpcError('INVALID_PARAMS', '`url` must be an https:// address.');
  if (address.username !== '' || address.password !== '')
    throw new RpcError('INVALID_PARAMS', '`url` must not contain a password. Receivers check the signature.');
  if (address.protocol === 'http:' && !allowPrivate)
    throw new RpcError(
      'INVALID_PARAMS',
      'Events are sent to https:// addresses. For http:// in your own network, allow private addresses.',
    );
}
