import type { Stream } from '#shared/link/stream.ts';
import type { Principal } from '#shared/link/hello.ts';
import type { Link } from '#shared/link/link.ts';
import type { Ended, Receipt } from '#shared/link/splice.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import { accessLater } from './access/later.ts';
import type { Admission } from './admission.ts';
import { agentsOf } from './agents.ts';
import { deskLater } from './approvals/later.ts';
import { type Bridge, noBridge } from './bridge.ts';
import { Channels } from './channels/channels.ts';
import type { Clock } from './clock.ts';
import { companionOf } from './companion.ts';
import { Config } from './config.ts';
import { keepConfigFile } from './config-file/keep.ts';
import { Connection } from './connection.ts';
import { Connections } from './connections.ts';
import { lazyCron } from './cron/lazy-cron.ts';
import { createDispatcher } from './dispatch.ts';
import { type Documents, readHere } from './documents/documents.ts';
import { type Environment, nowhere } from './environment.ts';
import { execTool } from './exec/tool.ts';
import { type FaultLog, faults } from './faults.ts';
import type { Fetch } from './fetch.ts';
import { Follow } from './follow.ts';
import { GuideProvider } from './guide/guide.ts';
import type { HttpDeps } from './http/deps.ts';
import { keepReceipts } from './http/receipts.ts';
import { Hub } from './hub.ts';
import { Idempotency } from './idempotency.ts';
import { lazy } from './lazy.ts';
import { allMethods } from './methods/all.ts';
import { Log } from './log/log.ts';
import { noteSettings, watchForLog } from './log/watch.ts';
import type { LocalServer } from './providers/discovery.ts';
import { LOCAL_SERVERS } from './providers/discovery.ts';
import { baseUrlOf } from './providers/kinds.ts';
import { Providers } from './providers/providers.ts';
import { ForeignRuns } from './runs/foreign-runs.ts';
import { HostSignals } from './runs/host-signals.ts';
import { Runs } from './runs/runs.ts';
import { Presence, type PresentClient } from './status/presence.ts';
import type { Settings, ToolPolicy } from './settings.ts';
import type { SyncPort } from './sync.ts';
import { SystemEvents } from './system/events.ts';
import { messagesFor } from './retrieval/message-search.ts';
import { coreTools } from './tools/core-tools.ts';
import { policyOf } from './tools/policy.ts';
import { cronTools } from './tools/cron-tools.ts';
import { officeTools } from './tools/office-tools.ts';
import { type Tool, ToolRegistry } from './tools/registry.ts';
import { webTools } from './tools/web-tools.ts';
import type { Vault } from './vault.ts';

const RATE_LIMIT = { perMinute: 600, burst: 100 };

export interface GatewayOptions {
  vault: Vault;
  clock: Clock;
  fetch: Fetch;
  version: string;
  /** Model servers looked for on this machine. */
  localServers?: readonly LocalServer[];
  /** Milliseconds after which a silent provider ends the run; 60,000 by default. */
  silenceMs?: number;
  /** The journal and the other hosts; none where there never are any. */
  sync?: SyncPort;
  /** What the bridge lends; nothing where there never is one. */
  bridge?: Bridge;
  /** Who reads documents; the gateway itself by default. */
  documents?: Documents;
  /** What the host knows of where it runs. */
  environment?: Environment;
  /** Told of faults of ours, which go into the log too. */
  log?: FaultLog;
  /** The configuration has changed: what was decided by the one before holds no more. */
  changed?: () => void;
}

/** The gateway: takes connections of protocol 3 over any link, and answers `/v1`. */
export interface Gateway {
  accept(link: Link<string>, admission: Admission): void;
  fetch(request: Request, principal: Principal, exchange?: Stream): Promise<Response>;
  /** Stores what calls have used that the bridge spliced; resolves when it is stored. */
  keepReceipts(given: Receipt[]): Promise<void>;
  /** What a caller is told behind events that the bridge has passed on by itself, and that ended badly. */
  tellOfEnd(given: Ended, signal: AbortSignal): Promise<string>;
  /** Origins that providers may be asked at. */
  origins(): ReadonlySet<string>;
  /**
   * Another host serves from here on: connections that came over the bridge, those here and those still to come, are closed with `CLOSE.handingOver` once no
   * call of theirs is under way. Pages' ports stay, and runs go on.
   */
  handOver(): void;
  /** This host serves again. */
  resume(): void;
  /** Something went wrong in a part of the host that the gateway does not see; it is noted in the log. */
  noted(component: string, error: unknown): void;
  /** Takes no new runs, waits for those under way, aborts them after `ms`. */
  drain(ms: number): Promise<void>;
  /** Closes all connections and the vault. */
  close(): Promise<void>;
}

/** Puts the parts together, and ends what a host that died has left. Rejects where the vault cannot be read. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { vault, clock, fetch, version, sync, bridge = noBridge, documents = readHere, environment = nowhere } = options;
  const started = clock.monotonic();
  const hub = new Hub();
  let state: 'ok' | 'draining' = 'ok';
  const log = new Log({ clock, store: vault.logs, level: () => config.settings.gateway.logLevel ?? 'info' });
  const fault = faults((id, error) => {
    log.write('error', 'gateway', 'Something went wrong', { id, error });
    if (options.log) options.log(id, error);
    else console.error(`[perch ${id}]`, error);
  });

  let noted: unknown;
  const config: Config = new Config(
    vault,
    hub,
    () => {
      apply();
      configFile.look();
    },
    fault,
  );
  let origins: ReadonlySet<string> = new Set();
  /** What follows from the configuration, anew at each change of it. */
  const apply = (): void => {
    log.hide(config.secrets);
    if (noted !== undefined) noteSettings(log, noted, config.get());
    noted = config.get();
    providers.configure(configured());
    options.changed?.();
    cron.look();
    const own = Object.values(config.settings.providers).flatMap((part) => baseUrlOf(part) ?? []);
    origins = new Set([...own.map((baseUrl) => new URL(baseUrl).origin), ...localServers.map(({ port }) => `http://127.0.0.1:${port}`)]);
  };
  const configured = (): Parameters<Providers['configure']>[0] =>
    Object.entries(config.settings.providers)
      .filter(([, provider]) => provider.enabled !== false)
      .map(([id, { name, kind, baseUrl }]) => ({ id, name: name ?? id, kind, baseUrl, apiKey: config.secret(`providers.${id}.apiKey`) }));

  const settings = (): Settings => config.settings;
  const agents = agentsOf(settings);
  const cron = lazyCron(clock, fault);
  const timeoutMs = (): number | undefined => config.settings.tools.execTimeoutMs;
  const asking = deskLater({ vault, hub, clock, bridge, sync, config, timeoutMs, fault });
  const { desk } = asking;
  const policy = (tool: Pick<Tool, 'name' | 'effect'>): ToolPolicy => policyOf(config.settings.tools, tool);
  const tools = new ToolRegistry((id) => agents.get(id), {
    policyOf: policy,
    ask: async (question, context) => (await desk()).approvals.ask(question, context),
  });
  const guide = new GuideProvider({
    clock,
    tools: () => tools.list(),
    sources: { memories: () => vault.memories.list(), messages: (question) => messagesFor(vault, question) },
  });
  await config.load();
  const localServers = options.localServers ?? (config.settings.gateway.discover === false ? [] : LOCAL_SERVERS);
  const limits = (): UpstreamLimits => ({ ...UPSTREAM_LIMITS, ...config.settings.gateway.upstream });
  const providers = new Providers({
    ...{ guide, fetch, clock, localServers, limits },
    onstate({ id, state: now, message }) {
      if (now === 'ready') log.write('info', 'providers', `${id} answers again`);
      else log.write('warn', 'providers', message ?? `${id} cannot be used`, { provider: id, state: now });
    },
  });
  apply();
  const timeZone = (): string => config.settings.chat.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const own = [
    ...coreTools({ vault, clock, timeZone }),
    ...cronTools(cron.load),
    ...officeTools({ vault, documents, agent: agents.get }),
    ...webTools({ bridge, documents, allow: () => config.settings.tools.webFetch?.allow ?? [] }),
    execTool({ desk, policy }),
  ];
  for (const tool of own) tools.register(tool);

  const models = {
    resolve: (model?: string, provider?: string) => providers.resolve(model, provider),
    priced: (key: string, usage: Usage) => providers.priced(key, usage),
  };
  const workbench = lazy(async () => (await import('./workbench.ts')).openWorkbench({ vault, hub, clock, bridge, agents, runs, fault }));
  tools.registerLater(async () => (await workbench()).tools);
  const companion = companionOf(workbench, fault);
  const foreign = new ForeignRuns({ vault, hub, clock, sync, lost: companion.lost, fault });
  const events = new SystemEvents({ vault, clock, agents, settings, log, fault });
  const deps = {
    vault,
    hub,
    clock,
    foreign,
    events,
    timeZone,
    agent: agents.get,
    models,
    tools,
    companion,
    fault,
    silenceMs: () => options.silenceMs ?? Math.max(limits().firstByteMs, limits().idleMs),
  };
  const runs = new Runs(deps);
  const configFile = keepConfigFile({ bridge, config, hub, clock, serves: () => sync?.state().role !== 'replica', fault });
  const channels = new Channels({ hub, clock, settings: () => config.settings });
  const follow = new Follow({ vault, hub, clock, sync, config, foreign, fault });
  const signals = sync && new HostSignals({ vault, hub, clock, sync, runs, foreign, fault });
  const connections: Connections = new Connections({
    ...{ hub, clock, log },
    open: (link, admission, told) => new Connection(link, admission, { ...connectionDeps, ...told }),
    onclients: () => presence.clientsChanged(),
    onseen: (principal) => access.seen(principal),
  });
  const clients = (): PresentClient[] => connections.clients();
  const access = accessLater({ vault, clock, bridge, sync, connected: connections, timeZone, fault });
  const presence = new Presence({ clock, sync, bridge, clients, providers: () => providers.known(), draining: () => state === 'draining' });
  const stopWatching = watchForLog({ log, hub, sync, bridge });
  const stopFollowing = (): void => {
    for (const part of [configFile, follow, signals, foreign, presence, access, cron, asking]) part?.stop();
    stopWatching();
  };
  try {
    await foreign.start();
  } catch (error) {
    stopFollowing();
    throw error;
  }
  void companion.recover(vault);
  cron.start({ vault, hub, clock, sync, runs, agents, events, settings, timeZone, fault, log });
  const noteHttp: HttpDeps['note'] & {} = (level, message, fields) => log.write(level, 'http', message, fields);
  // A page has no use for it.
  const http = lazy(async () => {
    const [{ createHttp }, { HttpAgents }] = await Promise.all([import('./http/http.ts'), import('./runs/http-agents.ts')]);
    return createHttp({
      agents: new HttpAgents({ ...deps, agents, runs }),
      ...{ providers, clock, fault, admit: access.admit, responses: vault.collection('responses') },
      note: noteHttp,
      record: (call) =>
        void providers
          .priced(call.model, call.usage)
          .then((usage) => vault.usage.add({ ...call, usage, id: crypto.randomUUID(), sessionKey: null })),
    });
  });

  // The bridge must hear whom to let in, also while nobody asks for that here.
  if (options.bridge) access.load().catch(fault);

  const handlers = {
    health: () => health(),
    ...allMethods({
      ...{ vault, hub, clock, sync, bridge, config, settings, timeZone, fault, log, environment },
      ...{ runs, agents, providers, tools, events, channels, workbench, desk, presence, clients },
      devices: async () => (await access.load()).devices,
      keys: async () => (await access.load()).keys,
      file: configFile,
      cron: cron.load,
      uptime: () => health().uptime,
      build: version,
      changed: () => follow.syncChanged(),
    }),
  };
  const dispatcher = createDispatcher(handlers, access.admit);
  const health = (): MethodResult<'health'> => ({
    status: state,
    uptime: Math.round((clock.monotonic() - started) / 1000),
    connections: connections.size,
  });

  const connectionDeps = {
    ...{ clock, dispatcher, version, health, fault, log, idempotency: new Idempotency(clock) },
    rateLimit: () => {
      const limit = config.settings.gateway.rateLimit ?? RATE_LIMIT;
      return limit.perMinute === 0 ? null : limit;
    },
    admits: async (code: string) => (await access.load()).devices.admits(code),
    presence: () => presence.now(),
  };
  connections.start();
  log.write('info', 'gateway', 'The gateway has started', { version: environment.release, build: version, host: environment.host() });

  return {
    accept: (link, admission) => connections.accept(link, admission),
    async fetch(request, principal, exchange) {
      access.seen(principal.id);
      return (await http())(request, principal, exchange);
    },
    keepReceipts: (given) =>
      keepReceipts(given, { providers, usage: vault.usage, note: (message, fields) => noteHttp('debug', message, fields) }),
    tellOfEnd: async (given, signal) => (await import('./http/ended.ts')).tellOfEnd(given, signal, { providers, fault, note: noteHttp }),
    origins: () => origins,
    handOver: () => connections.handOver(),
    resume: () => connections.resume(),
    noted: (component, error) => log.write('error', component, error instanceof Error ? error.message : String(error), { error }),
    async drain(ms) {
      state = 'draining';
      cron.stop();
      log.write('info', 'gateway', 'A newer version takes over');
      hub.broadcast({ event: 'shutdown', payload: { reason: 'a newer version takes over' } });
      await runs.drain(ms);
    },
    async close() {
      stopFollowing();
      connections.end();
      log.write('info', 'gateway', 'The gateway is closed');
      await log.flush();
      await vault.close();
    },
  };
}
