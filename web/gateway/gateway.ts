import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { Plan } from '#shared/rpc/methods/plan-contracts.ts';
import type { ToolPolicy } from '#shared/rpc/tool-policies.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import { limitRate } from '#shared/async/clock.ts';
import { createAgents } from './agent/agents.ts';
import { createBudgetCheck } from './agent/budgets/budget-check.ts';
import { createRunCompaction } from './agent/compaction/run-compaction.ts';
import { createGuideEntry } from './agent/guide/guide-entry.ts';
import { announceMemoryChanges } from './agent/knowledge/memory/announce-changes.ts';
import { createRunRecall } from './agent/knowledge/recall/run-recall.ts';
import { markRemovedAgents } from './agent/removed-agents.ts';
import { createRunLifecycleHooks } from './agent/run-lifecycle-hooks.ts';
import { HostSignals } from './agent/runs/host-signals.ts';
import { RemoteRuns } from './agent/runs/remote-runs.ts';
import type { RunsDeps } from './agent/runs/run-types.ts';
import { Runs } from './agent/runs/runs.ts';
import { createRunTitles } from './agent/small-work/run-titles.ts';
import { createSmallModelFinder } from './agent/small-work/small-models.ts';
import { SystemEvents } from './agent/system-events/system-events.ts';
import { getToolPolicy, isGranted } from './agent/tools/tool-policy.ts';
import { type Tool, type ToolGate, ToolRegistry } from './agent/tools/tool-registry.ts';
import { createToolRights } from './agent/tools/tool-rights.ts';
import { ContentLabels } from './agent/trust/content-labels.ts';
import { TaintedCommands } from './agent/trust/tainted-commands.ts';
import { createConflictMerger } from './agent/workspace/conflict-merger.ts';
import { noAudioConverter } from './audio/audio-converter.ts';
import type { ButtonPress } from './automation/channels/channel-adapter.ts';
import { ChannelRegistry } from './automation/channels/channel-registry.ts';
import { Config } from './config/gateway-config.ts';
import { MAIN_AGENT_ID } from './config/main-agent.ts';
import { SecretReferences } from './config/secrets/secret-references.ts';
import type { Settings } from './config/settings-schema.ts';
import { inlineDocumentReader } from './documents/inline-document-reader.ts';
import type { Gateway, GatewayOptions } from './gateway-options.ts';
import { createMethods } from './methods.ts';
import { MODULES } from './modules.ts';
import { detachedBridge } from './ports/bridge-interface.ts';
import { unknownEnvironment } from './ports/environment.ts';
import { getAllowedOrigins, getConfiguredProviders } from './providers/configured-providers.ts';
import { noBrowserModels } from './providers/local-models/browser-models.ts';
import { createLocalRunners } from './providers/local-models/local-runners.ts';
import { Providers } from './providers/providers.ts';
import { LOCAL_SERVERS } from './providers/server-discovery.ts';
import { registerTools } from './register-tools.ts';
import { createCallerRights } from './server/access/caller-rights.ts';
import { ClientConnection } from './server/client-connection.ts';
import { Connections } from './server/connections.ts';
import { createDispatcher } from './server/dispatch.ts';
import { createFaultHandler } from './server/fault-handler.ts';
import { HttpService } from './server/http/http-service.ts';
import { ReplicationListener } from './server/replication-listener.ts';
import { EventBus } from './system/event-bus.ts';
import { IdempotencyCache } from './system/idempotency.ts';
import { logGatewayEvents, logSettingsChange } from './system/log/log-watcher.ts';
import { Log } from './system/log/log.ts';
import { Modules } from './system/modules.ts';
import { RATE_LIMIT } from './system/rate-limit.ts';
import { type ConnectedClient, Presence } from './system/status/presence.ts';

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
    painter,
    bridge = detachedBridge,
    documents = inlineDocumentReader,
    audio = noAudioConverter,
    browserModels = noBrowserModels,
    environment = unknownEnvironment,
  } = options;
  const started = clock.monotonic();
  const hub = new EventBus();
  const modules = new Modules(MODULES);
  const { parts } = modules;
  let state: 'ok' | 'draining' = 'ok';

  // System and configuration.
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
  let origins: ReadonlySet<string> = new Set();
  /** Derives everything that depends on the configuration, again after each change. */
  const apply = (): void => {
    log.hide(config.secrets);
    if (loggedDocument !== undefined) logSettingsChange(log, loggedDocument, config.document);
    loggedDocument = config.document;
    providers.configure(getConfiguredProviders(config, references));
    options.changed?.();
    origins = getAllowedOrigins(config.settings, localServers);
  };
  const config: Config = new Config(
    vault,
    hub,
    () => {
      apply();
      references.refresh();
      modules.refresh();
    },
    fault,
    (before, after) => markRemovedAgents(before, after, { vault, hub }),
  );
  const settings = (): Settings => config.settings;
  const timeZone = (): string => config.settings.chat.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const isServing = (): boolean => sync?.state().role !== 'replica';
  // Files next to the bridge are maintained by the host that the bridge has chosen: one that has just attached has not read the others'
  // changes yet.
  const isLeaseHolder = (): boolean => !sync || sync.state().role === 'holder';
  const rights = createCallerRights(parts.access, fault);

  // Agents and their tools.
  const agents = createAgents(settings);
  const labels = new ContentLabels({ vault, clock, changed: () => hub.emit({ event: 'review.changed', payload: {} }, null) });
  const commands = new TaintedCommands({ vault, clock });
  const policy = (tool: Pick<Tool, 'name' | 'effect'>): ToolPolicy => getToolPolicy(config.settings.tools, tool);
  const gate: ToolGate = {
    getPolicy: policy,
    isGranted: (tool, sources) => isGranted(config.settings.tools, tool, sources),
    requestApproval: async (question, context) => (await parts.approvalService.load()).approvals.request(question, context),
  };
  const tools = new ToolRegistry(
    (id) => agents.get(id),
    gate,
    createToolRights({ scopes: rights.scopes, onScopeUsed: rights.recordScopeUse }),
  );
  registerTools(tools, {
    ...parts,
    ...{ vault, clock, timeZone, bridge, policy, gate, labels, documents, painter, config, agent: agents.get },
  });

  // Models.
  await config.load();
  const references = new SecretReferences({ bridge, config, fault });
  const localServers = options.localServers ?? (config.settings.gateway.discover === false ? [] : LOCAL_SERVERS);
  const limits = (): UpstreamLimits => ({ ...DEFAULT_UPSTREAM_LIMITS, ...config.settings.gateway.upstream });
  const silenceMs = (): number => options.silenceMs ?? Math.max(limits().firstByteMs, limits().idleMs);
  const runners = createLocalRunners(bridge, browserModels);
  /** Origins of current downloads of models. */
  const activeOrigins = new Set<string>();
  const providers = new Providers({
    ...{ fetch, clock, localServers, limits },
    guide: createGuideEntry(parts.guide),
    runners: { ...runners, ...(options.builtIn && { builtin: options.builtIn }) },
    onstate({ id, state: now, message }) {
      if (now === 'ready') log.write('info', 'providers', `${id} is available again`);
      else log.write('warn', 'providers', message ?? `${id} is unavailable`, { provider: id, state: now });
    },
  });
  apply();
  const models = {
    resolve: (model?: string, provider?: string) => providers.resolve(model, provider),
    addCost: (key: string, usage: Usage) => providers.addCost(key, usage),
    supportsImages: (key: string) => providers.supportsVision(key),
    supportsReasoning: (key: string) => providers.supportsThinking(key),
    lacksReasoning: (key: string) => providers.lacksThinking(key),
    getContextTokens: (key: string) => providers.getContextWindow(key),
    checkBudgets: createBudgetCheck(parts.budgets),
  };
  const findSmallModel = createSmallModelFinder(providers, () => config.settings.chat.smallModel);

  // Runs.
  const lifecycleHooks = createRunLifecycleHooks(parts.agentToolkit, vault, fault);
  const remoteRuns = new RemoteRuns({ vault, hub, clock, sync, onLost: lifecycleHooks.onRunLost, fault });
  const events = new SystemEvents({ vault, clock, agents, settings, log, fault });
  const runDeps: RunsDeps = {
    ...{ vault, hub, clock, timeZone, models, tools, remoteRuns, lifecycleHooks, events, fault, silenceMs },
    agent: agents.get,
    keySources: rights.keySources,
    recall: createRunRecall({ ...parts, settings, fault }),
    compaction: createRunCompaction(parts.compactor, fault),
    titles: createRunTitles({ ...parts, settings, fault }),
    onRefusedField: (model, field) =>
      log.write('info', 'providers', `${model} does not accept ${field}, which was left out`, { model, field }),
    limits: () => ({ maxSteps: config.settings.chat.maxSteps, maxMinutes: config.settings.chat.maxMinutes }),
  };
  const runs = new Runs(runDeps);

  // Clients and other hosts.
  const channels = new ChannelRegistry({ ...parts, ...{ hub, clock, vault, bridge, config, settings } });
  const connections: Connections = new Connections({
    ...{ hub, clock, log },
    open: (link, admission, callbacks) => new ClientConnection(link, admission, { ...connectionDeps, ...callbacks }),
    onClientsChange: () => presence.handleClientsChange(),
    onActivity: rights.recordActivity,
  });
  const clients = (): ConnectedClient[] => connections.clients();
  const presence = new Presence({
    ...{ clock, sync, bridge, clients },
    providers: () => providers.listKnownStates(),
    draining: () => state === 'draining',
  });
  const replicationListener = new ReplicationListener({ vault, hub, clock, sync, config, remoteRuns, fault });
  const onConflictsChange = (): void => replicationListener.notifySyncChange();
  const conflictMerger = createConflictMerger({ vault, sync, isActive: isLeaseHolder, onMerged: onConflictsChange, fault });
  const signals = sync && new HostSignals({ vault, hub, clock, sync, runs, remoteRuns, fault });
  const http = new HttpService({ ...parts, ...{ clock, vault, providers, rights, log, fault } });

  const services = {
    ...{
      vault,
      hub,
      clock,
      fetch,
      version,
      sync,
      bridge,
      audio,
      documents,
      environment,
      config,
      references,
      settings,
      timeZone,
      log,
      fault,
    },
    ...{ agents, labels, commands, tools, providers, models, findSmallModel, silenceMs, events, runs, runDeps, rights },
    ...{ browserModels, runners, activeOrigins, isServing, isLeaseHolder, connections },
    timeoutMs: () => config.settings.tools.execTimeoutMs,
    main: () => agents.get(MAIN_AGENT_ID),
    memoryStore: options.memoryStore,
    withdrawRoutes: () => options.changed?.(),
    handlePress: async (channelId: string, press: ButtonPress) => (await parts.approvalDeliveries.load()).handlePress(channelId, press),
    deliverPlan: async (plan: Plan, outside: readonly string[]) =>
      (await import('./automation/deliveries/plan-delivery.ts')).deliverPlan(
        { deliveries: parts.deliveries, settings, log },
        plan,
        outside,
      ),
    onServersTyped(names: readonly string[]): void {
      if (names.length === 0) return;
      parts.mcp
        .load()
        .then((servers) => servers.approveEntered(names))
        .catch(fault);
    },
  };
  modules.provide(services);

  const stops = [
    announceMemoryChanges({ vault, hub }),
    logGatewayEvents({ log, hub, sync, bridge }),
    bridge.watch(() => providers.handleConnectionChange()),
    ...[rights, modules, references, replicationListener, conflictMerger, signals, remoteRuns, presence].map((part) => () => part?.stop()),
  ];
  const stopServices = (): void => {
    for (const stop of stops) stop();
  };
  try {
    await remoteRuns.start();
  } catch (error) {
    stopServices();
    throw error;
  }
  void lifecycleHooks.recover(vault);
  modules.wake();

  const health = (): MethodResult<'health'> => ({
    status: state,
    uptime: Math.round((clock.monotonic() - started) / 1000),
    connections: connections.size,
  });
  const dispatcher = createDispatcher({
    ...createMethods({
      ...services,
      ...parts,
      ...{ channels, presence, clients, health, onConflictsChange },
      uptime: () => health().uptime,
      build: version,
    }),
    meter: rights.admit,
    used: rights.recordScopeUse,
  });
  const connectionDeps = {
    ...{ clock, dispatcher, version, health, fault, log, idempotency: new IdempotencyCache(clock) },
    rateLimit: () => {
      const limit = config.settings.gateway.rateLimit ?? RATE_LIMIT;
      return limit.perMinute === 0 ? null : limit;
    },
    canPair: async (code: string) => (await parts.access.load()).devices.canPair(code),
    presence: () => presence.listCurrent(),
  };
  connections.start();
  log.write('info', 'gateway', 'Gateway started', { version: environment.release, build: version, host: environment.host() });

  return {
    accept: (link, admission) => connections.accept(link, admission),
    whenSettled: () => config.whenSettled(),
    fetch(request, principal, exchange) {
      rights.recordActivity(principal.id);
      return http.fetch(request, principal, exchange);
    },
    storeReceipts: (receipts) => http.storeReceipts(receipts),
    writeSpliceFailure: (failure, signal) => http.writeSpliceFailure(failure, signal),
    origins: () => (activeOrigins.size === 0 ? origins : new Set([...origins, ...activeOrigins])),
    acceptResponses(link, principal, headers) {
      rights.recordActivity(principal.id);
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
      log.write('info', 'gateway', 'Handing over to a newer version');
      hub.broadcast({ event: 'shutdown', payload: { reason: 'a newer version is taking over' } });
      await Promise.all([runs.drain(ms), modules.drain(ms)]);
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
