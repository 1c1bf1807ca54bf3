import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { ToolPolicy } from '#shared/rpc/methods/tools.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import { accessLater } from './access/later.ts';
import { agentsOf, MAIN } from './agents.ts';
import { deskLater } from './approvals/later.ts';
import { noBridge } from './bridge.ts';
import { Channels } from './channels/channels.ts';
import { channelsLater } from './channels/later.ts';
import { companionOf } from './companion.ts';
import { limitRate } from './clock.ts';
import { Config } from './config.ts';
import { keepConfigFile } from './config-file/keep.ts';
import { Connection } from './connection.ts';
import { Connections } from './connections.ts';
import { lazyCron } from './cron/lazy-cron.ts';
import { createDispatcher } from './dispatch.ts';
import { DEFAULT_DATA_URL, withOcr } from './documents/ocr.ts';
import { readHere } from './documents/read-here.ts';
import { drawingsLater } from './drawings/later.ts';
import { nowhere } from './environment.ts';
import { faults } from './faults.ts';
import { Follow } from './follow.ts';
import { keepMirror } from './files-mirror/keep.ts';
import type { Gateway, GatewayOptions } from './gateway-options.ts';
import { guideLater } from './guide/later.ts';
import { httpLater } from './http/later.ts';
import { Hub } from './hub.ts';
import { Idempotency } from './idempotency.ts';
import { incognitoLater } from './incognito/later.ts';
import { knowledgeOf } from './knowledge.ts';
import { lazy } from './lazy.ts';
import { localModelsLater } from './local-models/later.ts';
import { mcpLater } from './mcp/later.ts';
import { type FirstDeps, firstMethods } from './methods/first.ts';
import type { LaterDeps } from './methods/later.ts';
import { Log } from './log/log.ts';
import { noteSettings, watchForLog } from './log/watch.ts';
import { LOCAL_SERVERS } from './providers/discovery.ts';
import { configuredProviders, originsOf } from './providers/configured.ts';
import { Providers } from './providers/providers.ts';
import { RATE_LIMIT } from './rate-limit.ts';
import { ForeignRuns } from './runs/foreign-runs.ts';
import { HostSignals } from './runs/host-signals.ts';
import { Runs } from './runs/runs.ts';
import { markRemovedAgents } from './removed-agents.ts';
import { SecretReferences } from './secrets/keep.ts';
import { Presence, type PresentClient } from './status/presence.ts';
import type { Settings } from './settings.ts';
import { authorizationsLater } from './oauth/later.ts';
import { lazyTitles } from './small-work/lazy-titles.ts';
import { smallModelFinder } from './small-work/small-models.ts';
import { SystemEvents } from './system/events.ts';
import { isGranted, policyOf } from './tools/policy.ts';
import type { OwnToolsDeps } from './tools/own-tools.ts';
import { type Tool, type ToolGate, ToolRegistry } from './tools/registry.ts';
import { toolRights } from './tools/rights.ts';
import { ContentLabels } from './trust/labels.ts';
import { TaintedCommands } from './trust/tainted-commands.ts';
import { keepMerged } from './workspace/keep-merged.ts';
import type { Workbench } from './workbench.ts';

/** Interval of log lines about full storage. */
const FULL_LOG_MS = 60_000;

/** Assembles the gateway, and ends the runs of hosts that died. Rejects if the vault cannot be read. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { vault, clock, fetch, version, sync, bridge = noBridge, documents = readHere, environment = nowhere } = options;
  const started = clock.monotonic();
  const hub = new Hub();
  let state: 'ok' | 'draining' = 'ok';
  const log = new Log({ clock, store: vault.logs, level: () => config.settings.gateway.logLevel ?? 'info' });
  const fault = faults(
    (id, error) => {
      log.write('error', 'gateway', 'Something went wrong', { id, error });
      if (options.log) options.log(id, error);
      else console.error(`[perch ${id}]`, error);
    },
    { onfull: limitRate(clock, FULL_LOG_MS, (error) => log.write('error', 'storage', `Storage is full. ${error.message}`)) },
  );

  let noted: unknown;
  const config: Config = new Config(
    vault,
    hub,
    () => {
      apply();
      for (const part of [references, configFile, mirror, mcp, running]) part.look();
    },
    fault,
    (before, after) => markRemovedAgents(before, after, { vault, hub }),
  );
  let origins: ReadonlySet<string> = new Set();
  /** Derives everything that depends on the configuration, again after each change. */
  const apply = (): void => {
    log.hide(config.secrets);
    if (noted !== undefined) noteSettings(log, noted, config.document);
    noted = config.document;
    providers.configure(configuredProviders(config, references));
    options.changed?.();
    cron.look();
    origins = originsOf(config.settings, localServers);
  };

  const settings = (): Settings => config.settings;
  const agents = agentsOf(settings);
  const cron = lazyCron(clock, fault);
  const timeoutMs = (): number | undefined => config.settings.tools.execTimeoutMs;
  const labels = new ContentLabels({ vault, clock, changed: () => hub.emit({ event: 'review.changed', payload: {} }, null) });
  const asking = deskLater({ vault, hub, clock, bridge, labels, sync, config, timeoutMs, fault });
  const { desk } = asking;
  const policy = (tool: Pick<Tool, 'name' | 'effect'>): ToolPolicy => policyOf(config.settings.tools, tool);
  const commands = new TaintedCommands({ vault, clock });
  const gate: ToolGate = {
    policyOf: policy,
    isGranted: (tool, sources) => isGranted(config.settings.tools, tool, sources),
    ask: async (question, context) => (await desk()).approvals.ask(question, context),
  };
  const tools = new ToolRegistry(
    (id) => agents.get(id),
    gate,
    toolRights({ scopes: (principal) => access.scopes(principal), used: (principal, scope) => access.used(principal, scope) }),
  );
  const guide = guideLater({
    clock,
    async tools() {
      await tools.ready();
      return tools.list();
    },
    sources: (agentId) => ({
      memories: async () => (await knowledge.memories.longTerm()).list(agentId),
      messages: async (question) => (await import('./retrieval/message-search.ts')).messagesFor(vault, question),
    }),
  });
  await config.load();
  const references = new SecretReferences({ bridge, config, fault });
  const localServers = options.localServers ?? (config.settings.gateway.discover === false ? [] : LOCAL_SERVERS);
  const limits = (): UpstreamLimits => ({ ...UPSTREAM_LIMITS, ...config.settings.gateway.upstream });
  const localModels = localModelsLater({ bridge, browserModels: options.browserModels, config, clock, fetch, hub, fault });
  const providers = new Providers({
    ...{
      guide,
      fetch,
      clock,
      runners: { ...localModels.runners, ...(options.builtIn && { builtin: options.builtIn }) },
      localServers,
      limits,
    },
    onstate({ id, state: now, message }) {
      if (now === 'ready') log.write('info', 'providers', `${id} is available again`);
      else log.write('warn', 'providers', message ?? `${id} is unavailable`, { provider: id, state: now });
    },
  });
  apply();
  const timeZone = (): string => config.settings.chat.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const models = {
    resolve: (model?: string, provider?: string) => providers.resolve(model, provider),
    priced: (key: string, usage: Usage) => providers.priced(key, usage),
    sees: (key: string) => providers.sees(key),
    thinks: (key: string) => providers.thinks(key),
    contextOf: (key: string) => providers.contextOf(key),
  };
  const findSmallModel = smallModelFinder(providers, () => config.settings.chat.smallModel);
  const silenceMs = (): number => options.silenceMs ?? Math.max(limits().firstByteMs, limits().idleMs);
  const knowledge = knowledgeOf({
    ...{ labels, vault, hub, clock, sync, agents, models, findSmallModel, settings, log, timeZone, silenceMs, fault },
    store: options.memoryStore,
  });
  const { recall, compaction, wikis, dreamer, summarise } = knowledge;
  const toolDeps: OwnToolsDeps = {
    ...{ vault, clock, timeZone, bridge, desk, policy, gate, labels },
    documents: withOcr(documents, () => {
      const { enabled, dataUrl = DEFAULT_DATA_URL, languages } = config.settings.documents.ocr;
      return enabled ? { dataUrl, languages } : undefined;
    }),
    memories: knowledge.memories,
    cron: cron.load,
    agent: agents.get,
    keepVersion: async (...file) => (await workbench()).versions.keep(...file),
    allow: () => config.settings.tools.webFetch?.allow ?? [],
  };
  tools.registerLater(async () => (await import('./tools/own-tools.ts')).ownTools(toolDeps));
  const workbench = lazy(async () =>
    (await import('./workbench.ts')).openWorkbench({ vault, hub, clock, bridge, agents, runs, labels, fault }),
  );
  tools.registerLater(async () => (await workbench()).tools);
  tools.registerLater(async () => (await import('./tools/desktop-tools.ts')).desktopTools({ bridge }));
  const workspaces = async (): Promise<Workbench['workspaces']> => (await workbench()).workspaces;
  tools.registerLater(async () =>
    (await import('./tools/browser-tools.ts')).browserTools({ bridge, config, workspaces, labels, agent: agents.get }),
  );
  tools.registerLater(() => wikis.tools(labels));
  const drawings = drawingsLater({ vault, hub, clock, fault });
  tools.registerLater(async () =>
    (await import('./tools/canvas-tools.ts')).canvasTools({ drawings: drawings.load, paint: options.painter, labels }),
  );
  const companion = companionOf(workbench, fault);
  const foreign = new ForeignRuns({ vault, hub, clock, sync, lost: companion.lost, fault });
  const events = new SystemEvents({ vault, clock, agents, settings, log, fault });
  const titles = lazyTitles({ vault, hub, clock, models, findSmallModel, log, settings, silenceMs, fault });
  const deps = {
    ...{ vault, hub, clock, foreign, events, recall, compaction, titles, timeZone, models, tools, companion, fault, silenceMs },
    agent: agents.get,
    keySources: (principal: string) => access.keySources(principal),
    maxSteps: () => config.settings.chat.maxSteps,
  };
  const runs = new Runs(deps);
  const incognito = incognitoLater({ ...deps, main: () => agents.get(MAIN) });
  const oauth = authorizationsLater({ bridge, clock, fault });
  const serves = (): boolean => sync?.state().role !== 'replica';
  // Files next to the bridge are maintained by the host that the bridge has chosen: one that has just attached has not read the others'
  // changes yet.
  const keeps = (): boolean => !sync || sync.state().role === 'holder';
  const mcp = mcpLater({ ...deps, agents, desk, bridge, fetch, config, log, version, serves, authorizations: oauth.load });
  const configFile = keepConfigFile({ bridge, config, hub, clock, sync, serves: keeps, typed: mcp.typed, fault });
  const mirror = keepMirror({
    taken: async (workspace, paths) => labels.replaceFiles(workspace, paths, await commands.getSources()),
    agreed: (lookedAt) => commands.settle(lookedAt),
    ...{ bridge, vault, clock, agents, sync, log, timeZone, settings, serves: keeps, fault },
  });
  const running = channelsLater({
    config,
    vault,
    runs,
    approvals: async () => (await desk()).approvals,
    bridge,
    clock,
    fetch,
    sync,
    log,
    fault,
  });
  const channels = new Channels({ hub, clock, vault, bridge, config, settings, running });
  const follow = new Follow({ vault, hub, clock, sync, config, foreign, fault });
  const merged = keepMerged({ vault, sync, serves: keeps, changed: () => follow.syncChanged(), fault });
  const signals = sync && new HostSignals({ vault, hub, clock, sync, runs, foreign, fault });
  const connections: Connections = new Connections({
    ...{ hub, clock, log },
    open: (link, admission, told) => new Connection(link, admission, { ...connectionDeps, ...told }),
    onclients: () => presence.clientsChanged(),
    onseen: (principal) => access.seen(principal),
  });
  const clients = (): PresentClient[] => connections.clients();
  const access = accessLater({ vault, clock, bridge, sync, connected: connections, runs, timeZone, fault });
  const presence = new Presence({ clock, sync, bridge, clients, providers: () => providers.known(), draining: () => state === 'draining' });
  const stopWatching = watchForLog({ log, hub, sync, bridge });
  const stopProviders = bridge.watch(() => providers.wayChanged());
  const stopFollowing = (): void => {
    const parts = [
      configFile,
      mirror,
      references,
      mcp,
      localModels,
      follow,
      merged,
      signals,
      foreign,
      presence,
      access,
      cron,
      asking,
      oauth,
      running,
      knowledge,
      titles,
      drawings,
    ];
    for (const part of parts) part?.stop();
    stopWatching();
    stopProviders();
  };
  try {
    await foreign.start();
  } catch (error) {
    stopFollowing();
    throw error;
  }
  void companion.recover(vault);
  running.look();
  const dream = async (agentId: string): Promise<void> => (await dreamer()).tick(agentId);
  cron.start({ vault, hub, clock, sync, runs, agents, events, settings, timeZone, fault, log, dream, summarise });
  const http = httpLater({
    ...deps,
    bridge,
    agents,
    runs,
    providers,
    oauth,
    admit: access.admit,
    used: access.used,
    scopes: access.scopes,
    log,
    version,
    wikis,
    labels,
    workbench,
  });

  // The bridge must know who may connect, even if no client asks for it here.
  if (options.bridge) access.load().catch(fault);

  const methodDeps: FirstDeps & LaterDeps = {
    ...{ vault, hub, clock, sync, bridge, config, references, settings, timeZone, fault, log, environment },
    ...{
      runs,
      incognito,
      agents,
      models,
      findSmallModel,
      compaction,
      providers,
      tools,
      events,
      channels,
      running,
      oauth,
      workbench,
      desk,
      labels,
      presence,
      clients,
    },
    health: () => health(),
    access: () => access.load(),
    keys: async () => (await access.load()).keys,
    file: configFile,
    mirror,
    cron: cron.load,
    dreamer,
    mcp: mcp.load,
    memories: knowledge.memories,
    silenceMs,
    wikis: wikis.load,
    localModels: localModels.load,
    drawings: drawings.load,
    uptime: () => health().uptime,
    build: version,
    changed: () => follow.syncChanged(),
  };
  const dispatcher = createDispatcher({
    first: firstMethods(methodDeps),
    later: async () => (await import('./methods/later.ts')).laterMethods(methodDeps),
    meter: access.admit,
    used: access.used,
  });
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
  log.write('info', 'gateway', 'Gateway started', { version: environment.release, build: version, host: environment.host() });

  return {
    accept: (link, admission) => connections.accept(link, admission),
    settled: () => config.settled(),
    fetch(request, principal, exchange) {
      access.seen(principal.id);
      return http.fetch(request, principal, exchange);
    },
    keepReceipts: http.keepReceipts,
    tellOfEnd: http.tellOfEnd,
    origins: () => localModels.with(origins),
    acceptResponses(link, principal, headers) {
      access.seen(principal.id);
      return http.acceptResponses(link, principal, headers);
    },
    handOver() {
      connections.handOver();
      http.setServing(false);
    },
    resume() {
      connections.resume();
      http.setServing(true);
    },
    noted: (component, error) => log.write('error', component, error instanceof Error ? error.message : String(error), { error }),
    async drain(ms) {
      state = 'draining';
      cron.stop();
      running.stop();
      log.write('info', 'gateway', 'Handing over to a newer version');
      hub.broadcast({ event: 'shutdown', payload: { reason: 'a newer version is taking over' } });
      await Promise.all([runs.drain(ms), incognito.drain(ms)]);
    },
    async close() {
      stopFollowing();
      connections.end();
      log.write('info', 'gateway', 'Gateway closed');
      await log.flush();
      await vault.close();
    },
  };
}
