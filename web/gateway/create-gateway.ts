import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { ToolPolicy } from '#shared/rpc/methods/tool-contracts.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import { createLazyAccess } from './server/access/lazy-access.ts';
import { createAgents } from './agent/agents.ts';
import { MAIN_AGENT_ID } from './config/main-agent.ts';
import { createLazyApprovalService } from './agent/approvals/lazy-approvals.ts';
import { detachedBridge } from './ports/bridge-interface.ts';
import { ChannelRegistry } from './automation/channels/channel-registry.ts';
import { createLazyChannels } from './automation/channels/lazy-channels.ts';
import { createRunLifecycleHooks } from './agent/run-lifecycle-hooks.ts';
import { limitRate } from '#shared/async/clock.ts';
import { Config } from './config/gateway-config.ts';
import { createLazyConfigFile } from './config/config-file/lazy-config-file.ts';
import { ClientConnection } from './server/client-connection.ts';
import { Connections } from './server/connections.ts';
import { createLazyCron } from './automation/cron/lazy-cron.ts';
import { createDispatcher } from './server/dispatch.ts';
import { DEFAULT_DATA_URL, withOcr } from './documents/ocr.ts';
import { noAudioConverter } from './audio/audio-converter.ts';
import { inlineDocumentReader } from './documents/inline-document-reader.ts';
import { createLazyDrawings } from './drawings/lazy-drawings.ts';
import { unknownEnvironment } from './ports/environment.ts';
import { createFaultHandler } from './server/fault-handler.ts';
import { ReplicationListener } from './server/replication-listener.ts';
import { createLazyFilesMirror } from './agent/files-mirror/lazy-files-mirror.ts';
import type { Gateway, GatewayOptions } from './gateway-options.ts';
import { createLazyGuide } from './agent/guide/lazy-guide.ts';
import { createLazyHttp } from './server/http/lazy-http.ts';
import { EventBus } from './system/event-bus.ts';
import { IdempotencyCache } from './system/idempotency.ts';
import { createLazyIncognito } from './agent/incognito/lazy-incognito.ts';
import { createKnowledge } from './agent/knowledge/knowledge.ts';
import { lazy } from '#shared/async/lazy.ts';
import { createLazyLocalModels } from './providers/local-models/lazy-local-models.ts';
import { createLazyMcp } from './agent/mcp/lazy-mcp.ts';
import { type InitialMethodsDeps, createInitialMethods } from './server/methods/initial-methods.ts';
import type { DeferredMethodsDeps } from './server/methods/deferred-methods.ts';
import { Log } from './system/log/log.ts';
import { logSettingsChange, logGatewayEvents } from './system/log/log-watcher.ts';
import { LOCAL_SERVERS } from './providers/server-discovery.ts';
import { getConfiguredProviders, getAllowedOrigins } from './providers/configured-providers.ts';
import { Providers } from './providers/providers.ts';
import { RATE_LIMIT } from './system/rate-limit.ts';
import { RemoteRuns } from './agent/runs/remote-runs.ts';
import { HostSignals } from './agent/runs/host-signals.ts';
import { Runs } from './agent/runs/runs.ts';
import { markRemovedAgents } from './agent/removed-agents.ts';
import { SecretReferences } from './config/secrets/secret-references.ts';
import { Presence, type ConnectedClient } from './system/status/presence.ts';
import type { Settings } from './config/settings-schema.ts';
import { createLazyAuthorizations } from './config/oauth/lazy-authorizations.ts';
import { createLazyTitles } from './agent/small-work/lazy-titles.ts';
import { createSmallModelFinder } from './agent/small-work/small-models.ts';
import { SystemEvents } from './agent/system-events/system-events.ts';
import { isGranted, getToolPolicy } from './agent/tools/tool-policy.ts';
import type { BuiltinToolsDeps } from './builtin-tools.ts';
import { type Tool, type ToolGate, ToolRegistry } from './agent/tools/tool-registry.ts';
import { createToolRights } from './agent/tools/tool-rights.ts';
import { ContentLabels } from './agent/trust/content-labels.ts';
import { TaintedCommands } from './agent/trust/tainted-commands.ts';
import { createConflictMerger } from './agent/workspace/conflict-merger.ts';
import type { AgentToolkit } from './agent/agent-toolkit.ts';

/** Interval of log lines about full storage. */
const STORAGE_FULL_LOG_MS = 60_000;

/** Assembles the gateway, and ends the runs of hosts that died. Rejects if the vault cannot be read. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const {
    vault,
    clock,
    fetch,
    version,
    sync,
    bridge = detachedBridge,
    documents = inlineDocumentReader,
    audio = noAudioConverter,
    environment = unknownEnvironment,
  } = options;
  const started = clock.monotonic();
  const hub = new EventBus();
  let state: 'ok' | 'draining' = 'ok';
  const log = new Log({ clock, store: vault.logs, level: () => config.settings.gateway.logLevel ?? 'info' });
  const fault = createFaultHandler(
    (id, error) => {
      log.write('error', 'gateway', 'Something went wrong', { id, error });
      if (options.log) options.log(id, error);
      else console.error(`[perch ${id}]`, error);
    },
    { onStorageFull: limitRate(clock, STORAGE_FULL_LOG_MS, (error) => log.write('error', 'storage', `Storage is full. ${error.message}`)) },
  );

  let loggedDocument: unknown;
  const config: Config = new Config(
    vault,
    hub,
    () => {
      apply();
      for (const part of [references, configFile, mirror, mcp, lazyChannels]) part.refresh();
    },
    fault,
    (before, after) => markRemovedAgents(before, after, { vault, hub }),
  );
  let origins: ReadonlySet<string> = new Set();
  /** Derives everything that depends on the configuration, again after each change. */
  const apply = (): void => {
    log.hide(config.secrets);
    if (loggedDocument !== undefined) logSettingsChange(log, loggedDocument, config.document);
    loggedDocument = config.document;
    providers.configure(getConfiguredProviders(config, references));
    options.changed?.();
    cron.refresh();
    origins = getAllowedOrigins(config.settings, localServers);
  };

  const settings = (): Settings => config.settings;
  const agents = createAgents(settings);
  const cron = createLazyCron(clock, fault);
  const timeoutMs = (): number | undefined => config.settings.tools.execTimeoutMs;
  const labels = new ContentLabels({ vault, clock, changed: () => hub.emit({ event: 'review.changed', payload: {} }, null) });
  const lazyApprovals = createLazyApprovalService({ vault, hub, clock, bridge, labels, sync, config, timeoutMs, fault });
  const { approvalService } = lazyApprovals;
  const policy = (tool: Pick<Tool, 'name' | 'effect'>): ToolPolicy => getToolPolicy(config.settings.tools, tool);
  const commands = new TaintedCommands({ vault, clock });
  const gate: ToolGate = {
    getPolicy: policy,
    isGranted: (tool, sources) => isGranted(config.settings.tools, tool, sources),
    requestApproval: async (question, context) => (await approvalService()).approvals.request(question, context),
  };
  const tools = new ToolRegistry(
    (id) => agents.get(id),
    gate,
    createToolRights({
      scopes: (principal) => access.scopes(principal),
      onScopeUsed: (principal, scope) => access.recordScopeUse(principal, scope),
    }),
  );
  const guide = createLazyGuide({
    clock,
    async tools() {
      await tools.loadAll();
      return tools.list();
    },
    sources: (agentId) => ({
      memories: async () => (await knowledge.memories.longTerm()).list(agentId),
      messages: async (question) => (await import('./agent/knowledge/recall/message-search.ts')).findMessages(vault, question),
    }),
  });
  await config.load();
  const references = new SecretReferences({ bridge, config, fault });
  const localServers = options.localServers ?? (config.settings.gateway.discover === false ? [] : LOCAL_SERVERS);
  const limits = (): UpstreamLimits => ({ ...DEFAULT_UPSTREAM_LIMITS, ...config.settings.gateway.upstream });
  const localModels = createLazyLocalModels({ bridge, browserModels: options.browserModels, config, clock, fetch, hub, fault });
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
    addCost: (key: string, usage: Usage) => providers.addCost(key, usage),
    supportsImages: (key: string) => providers.supportsVision(key),
    supportsReasoning: (key: string) => providers.supportsThinking(key),
    getContextTokens: (key: string) => providers.getContextWindow(key),
  };
  const findSmallModel = createSmallModelFinder(providers, () => config.settings.chat.smallModel);
  const silenceMs = (): number => options.silenceMs ?? Math.max(limits().firstByteMs, limits().idleMs);
  const knowledge = createKnowledge({
    ...{ labels, vault, hub, clock, sync, agents, models, findSmallModel, settings, log, timeZone, silenceMs, fault },
    store: options.memoryStore,
  });
  const { recall, compaction, wikis, dreamer, summarise } = knowledge;
  const toolDeps: BuiltinToolsDeps = {
    ...{ vault, clock, timeZone, bridge, approvalService, policy, gate, labels },
    documents: withOcr(documents, () => {
      const { enabled, dataUrl = DEFAULT_DATA_URL, languages } = config.settings.documents.ocr;
      return enabled ? { dataUrl, languages } : undefined;
    }),
    memories: knowledge.memories,
    cron: cron.load,
    agent: agents.get,
    keepVersion: async (...file) => (await agentToolkit()).versions.save(...file),
    allow: () => config.settings.tools.webFetch?.allow ?? [],
  };
  tools.registerLazy(async () => (await import('./builtin-tools.ts')).createBuiltinTools(toolDeps));
  const agentToolkit = lazy(async () =>
    (await import('./agent/agent-toolkit.ts')).openAgentToolkit({ vault, hub, clock, bridge, agents, runs, labels, fault }),
  );
  tools.registerLazy(async () => (await agentToolkit()).tools);
  tools.registerLazy(async () => (await import('./agent/tools/desktop-tools.ts')).desktopTools({ bridge }));
  const workspaces = async (): Promise<AgentToolkit['workspaces']> => (await agentToolkit()).workspaces;
  tools.registerLazy(async () =>
    (await import('./agent/tools/browser-tools.ts')).browserTools({ bridge, config, workspaces, labels, agent: agents.get }),
  );
  tools.registerLazy(() => wikis.loadTools(labels));
  const drawings = createLazyDrawings({ vault, hub, clock, fault });
  tools.registerLazy(async () =>
    (await import('./agent/tools/canvas-tools.ts')).canvasTools({ drawings: drawings.load, paint: options.painter, labels }),
  );
  const lifecycleHooks = createRunLifecycleHooks(agentToolkit, fault);
  const remoteRuns = new RemoteRuns({ vault, hub, clock, sync, onLost: lifecycleHooks.onRunLost, fault });
  const events = new SystemEvents({ vault, clock, agents, settings, log, fault });
  const titles = createLazyTitles({ vault, hub, clock, models, findSmallModel, log, settings, silenceMs, fault });
  const deps = {
    ...{
      vault,
      hub,
      clock,
      remoteRuns,
      events,
      recall,
      compaction,
      titles,
      timeZone,
      models,
      tools,
      lifecycleHooks,
      fault,
      silenceMs,
    },
    agent: agents.get,
    keySources: (principal: string) => access.keySources(principal),
    maxSteps: () => config.settings.chat.maxSteps,
  };
  const runs = new Runs(deps);
  const incognito = createLazyIncognito({ ...deps, main: () => agents.get(MAIN_AGENT_ID) });
  const oauth = createLazyAuthorizations({ bridge, clock, fault });
  const isActive = (): boolean => sync?.state().role !== 'replica';
  // Files next to the bridge are maintained by the host that the bridge has chosen: one that has just attached has not read the others'
  // changes yet.
  const isLeaseHolder = (): boolean => !sync || sync.state().role === 'holder';
  const mcp = createLazyMcp({
    ...deps,
    agents,
    approvalService,
    bridge,
    fetch,
    config,
    log,
    version,
    isServing: isActive,
    authorizations: oauth.load,
  });
  const configFile = createLazyConfigFile({
    bridge,
    config,
    hub,
    clock,
    sync,
    isActive: isLeaseHolder,
    onServersTyped: mcp.approveEntered,
    fault,
  });
  const mirror = createLazyFilesMirror({
    beforeImport: async (workspace, paths) => labels.replaceFiles(workspace, paths, await commands.getSources()),
    onSynced: (lookedAt) => commands.markSettled(lookedAt),
    ...{ bridge, vault, clock, agents, sync, log, timeZone, settings, isActive: isLeaseHolder, fault },
  });
  const lazyChannels = createLazyChannels({
    config,
    vault,
    runs,
    approvals: async () => (await approvalService()).approvals,
    bridge,
    clock,
    fetch,
    sync,
    log,
    fault,
  });
  const channels = new ChannelRegistry({ hub, clock, vault, bridge, config, settings, running: lazyChannels });
  const replicationListener = new ReplicationListener({ vault, hub, clock, sync, config, remoteRuns, fault });
  const conflictMerger = createConflictMerger({
    vault,
    sync,
    isActive: isLeaseHolder,
    onMerged: () => replicationListener.notifySyncChange(),
    fault,
  });
  const signals = sync && new HostSignals({ vault, hub, clock, sync, runs, remoteRuns, fault });
  const connections: Connections = new Connections({
    ...{ hub, clock, log },
    open: (link, admission, callbacks) => new ClientConnection(link, admission, { ...connectionDeps, ...callbacks }),
    onClientsChange: () => presence.handleClientsChange(),
    onActivity: (principal) => access.recordActivity(principal),
  });
  const clients = (): ConnectedClient[] => connections.clients();
  const access = createLazyAccess({ vault, clock, bridge, sync, connections: connections, runs, timeZone, fault });
  const presence = new Presence({
    clock,
    sync,
    bridge,
    clients,
    providers: () => providers.listKnownStates(),
    draining: () => state === 'draining',
  });
  const stopWatching = logGatewayEvents({ log, hub, sync, bridge });
  const stopProviders = bridge.watch(() => providers.handleConnectionChange());
  const stopServices = (): void => {
    const parts = [
      configFile,
      mirror,
      references,
      mcp,
      localModels,
      replicationListener,
      conflictMerger,
      signals,
      remoteRuns,
      presence,
      access,
      cron,
      lazyApprovals,
      oauth,
      lazyChannels,
      knowledge,
      titles,
      drawings,
    ];
    for (const part of parts) part?.stop();
    stopWatching();
    stopProviders();
  };
  try {
    await remoteRuns.start();
  } catch (error) {
    stopServices();
    throw error;
  }
  void lifecycleHooks.recover(vault);
  lazyChannels.refresh();
  const dream = async (agentId: string): Promise<void> => (await dreamer()).runScheduled(agentId);
  cron.start({ vault, hub, clock, sync, runs, agents, events, settings, timeZone, fault, log, dream, summarise });
  const http = createLazyHttp({
    ...deps,
    bridge,
    audio,
    agents,
    runs,
    providers,
    oauth,
    admit: access.admit,
    used: access.recordScopeUse,
    scopes: access.scopes,
    log,
    version,
    wikis,
    labels,
    agentToolkit,
  });

  // The bridge must know who may connect, even if no client asks for it here.
  if (options.bridge) access.load().catch(fault);

  const methodDeps: InitialMethodsDeps & DeferredMethodsDeps = {
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
      running: lazyChannels,
      oauth,
      agentToolkit,
      approvalService,
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
    onConflictsChange: () => replicationListener.notifySyncChange(),
  };
  const dispatcher = createDispatcher({
    initial: createInitialMethods(methodDeps),
    loadRest: async () => (await import('./server/methods/deferred-methods.ts')).createDeferredMethods(methodDeps),
    meter: access.admit,
    used: access.recordScopeUse,
  });
  const health = (): MethodResult<'health'> => ({
    status: state,
    uptime: Math.round((clock.monotonic() - started) / 1000),
    connections: connections.size,
  });

  const connectionDeps = {
    ...{ clock, dispatcher, version, health, fault, log, idempotency: new IdempotencyCache(clock) },
    rateLimit: () => {
      const limit = config.settings.gateway.rateLimit ?? RATE_LIMIT;
      return limit.perMinute === 0 ? null : limit;
    },
    canPair: async (code: string) => (await access.load()).devices.canPair(code),
    presence: () => presence.listCurrent(),
  };
  connections.start();
  log.write('info', 'gateway', 'Gateway started', { version: environment.release, build: version, host: environment.host() });

  return {
    accept: (link, admission) => connections.accept(link, admission),
    whenSettled: () => config.whenSettled(),
    fetch(request, principal, exchange) {
      access.recordActivity(principal.id);
      return http.fetch(request, principal, exchange);
    },
    storeReceipts: http.storeReceipts,
    writeSpliceFailure: http.writeSpliceFailure,
    origins: () => localModels.addActiveOrigins(origins),
    acceptResponses(link, principal, headers) {
      access.recordActivity(principal.id);
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
    logError: (component, error) => log.write('error', component, error instanceof Error ? error.message : String(error), { error }),
    async drain(ms) {
      state = 'draining';
      cron.stop();
      lazyChannels.stop();
      log.write('info', 'gateway', 'Handing over to a newer version');
      hub.broadcast({ event: 'shutdown', payload: { reason: 'a newer version is taking over' } });
      await Promise.all([runs.drain(ms), incognito.drain(ms)]);
    },
    async close() {
      stopServices();
      connections.closeAll();
      log.write('info', 'gateway', 'Gateway closed');
      await log.flush();
      await vault.close();
    },
  };
}
