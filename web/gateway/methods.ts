import { connectionContracts } from '#shared/rpc/methods/connection-contracts.ts';
import type { LazyMethods } from './server/dispatch.ts';
import { agentMethods } from './agent/agent-methods.ts';
import { approvalMethods } from './agent/approvals/approval-methods.ts';
import { chatMethods } from './agent/runs/chat-methods.ts';
import { modelListMethods } from './providers/model-list-methods.ts';
import { sessionListMethods } from './agent/sessions/session-list-methods.ts';
import { syncMethods } from './agent/workspace/sync-methods.ts';
import { defineMethods, type Handlers, type MethodGroup, type Methods } from './system/methods.ts';
import type { ToIntersection } from './system/modules.ts';

const connectionMethods = defineMethods(connectionContracts)(({ health }: Pick<Handlers<typeof connectionContracts>, 'health'>) => ({
  health,
}));

/** Methods of a chat page's first calls, which a gateway has from its start. */
const FIRST_METHODS = [connectionMethods, chatMethods, sessionListMethods, agentMethods, modelListMethods, syncMethods, approvalMethods];

/** All other methods by their namespaces, loaded with the first call of one. */
const LAZY_METHODS = [
  lazyMethods('backup', async () => (await import('./system/backup-methods.ts')).backupMethods),
  lazyMethods('browser', async () => (await import('./agent/browser/browser-methods.ts')).browserMethods),
  lazyMethods('budgets', async () => (await import('./agent/budgets/budget-methods.ts')).budgetMethods),
  lazyMethods('channels', async () => (await import('./automation/channels/channel-methods.ts')).channelMethods),
  lazyMethods('collections', async () => (await import('./agent/collections/collection-methods.ts')).collectionMethods),
  lazyMethods('config secrets', async () => (await import('./config/config-methods.ts')).configMethods),
  lazyMethods('cron', async () => (await import('./automation/cron/cron-methods.ts')).cronMethods),
  lazyMethods('deliveries', async () => (await import('./automation/deliveries/delivery-methods.ts')).deliveryMethods),
  lazyMethods('desktop', async () => (await import('./agent/desktop/desktop-methods.ts')).desktopMethods),
  lazyMethods('device', async () => (await import('./server/devices/device-methods.ts')).deviceMethods),
  lazyMethods('doctor system update web', async () => (await import('./server/doctor/status-methods.ts')).statusMethods),
  lazyMethods('drawings', async () => (await import('./agent/drawings/drawing-methods.ts')).drawingMethods),
  lazyMethods('dreaming', async () => (await import('./agent/knowledge/dreamer/dreaming-methods.ts')).dreamingMethods),
  lazyMethods('exec tools', async () => (await import('./agent/exec/exec-methods.ts')).execMethods),
  lazyMethods('forgetting', async () => (await import('./agent/forgetting/forgetting-methods.ts')).forgettingMethods),
  lazyMethods('hooks', async () => (await import('./automation/hooks/hook-methods.ts')).hookMethods),
  lazyMethods('incognito', async () => (await import('./agent/incognito/incognito-methods.ts')).incognitoMethods),
  lazyMethods('keys', async () => (await import('./server/keys/key-methods.ts')).keyMethods),
  lazyMethods('logs system', async () => (await import('./system/log/log-methods.ts')).logMethods),
  lazyMethods('mcp', async () => (await import('./agent/mcp/mcp-methods.ts')).mcpMethods),
  lazyMethods('memory', async () => (await import('./agent/knowledge/memory/memory-methods.ts')).memoryMethods),
  lazyMethods('models', async () => (await import('./providers/model-methods.ts')).modelMethods),
  lazyMethods('plan', async () => (await import('./agent/plans/plan-methods.ts')).planMethods),
  lazyMethods('projects', async () => (await import('./agent/projects/project-methods.ts')).projectMethods),
  lazyMethods('provenance', async () => (await import('./agent/knowledge/provenance/provenance-methods.ts')).provenanceMethods),
  lazyMethods('push', async () => (await import('./automation/push/push-methods.ts')).pushMethods),
  lazyMethods('review', async () => (await import('./agent/trust/review-methods.ts')).reviewMethods),
  lazyMethods('sessions', async () => (await import('./agent/sessions/session-methods.ts')).sessionMethods),
  lazyMethods('skills', async () => (await import('./agent/skills/skill-methods.ts')).skillMethods),
  lazyMethods('system', async () => (await import('./agent/system-events/system-methods.ts')).systemMethods),
  lazyMethods('tools', async () => (await import('./agent/tools/tool-methods.ts')).toolMethods),
  lazyMethods('trash', async () => (await import('./agent/trash/trash-methods.ts')).trashMethods),
  lazyMethods('tts', async () => (await import('./audio/tts-methods.ts')).ttsMethods),
  lazyMethods('usage', async () => (await import('./providers/usage-methods.ts')).usageMethods),
  lazyMethods('web', async () => (await import('./agent/tools/web-methods.ts')).webMethods),
  lazyMethods('wiki', async () => (await import('./agent/knowledge/wiki/wiki-methods.ts')).wikiMethods),
  lazyMethods('workspace', async () => (await import('./agent/workspace/workspace-methods.ts')).workspaceMethods),
];

interface LazyGroup<Deps> {
  namespaces: readonly string[];
  load(): Promise<MethodGroup<Deps>>;
}

function lazyMethods<Deps>(namespaces: string, load: () => Promise<MethodGroup<Deps>>): LazyGroup<Deps> {
  return { namespaces: namespaces.split(' '), load };
}

type DepsOf<Group> = Group extends MethodGroup<infer Deps> ? Deps : Group extends LazyGroup<infer Deps> ? Deps : never;

/** Dependencies of all methods. */
type MethodNeeds = ToIntersection<DepsOf<(typeof FIRST_METHODS)[number] | (typeof LAZY_METHODS)[number]>>;

/** The gateway's methods: those that exist from the start, and those that are loaded by their first call. */
export const createMethods = (needs: MethodNeeds): { loaded: readonly Methods[]; lazy: readonly LazyMethods[] } => ({
  loaded: FIRST_METHODS.map((create) => (create as MethodGroup<MethodNeeds>)(needs)),
  lazy: LAZY_METHODS.map(({ namespaces, load }) => ({
    namespaces,
    load: async () => ((await load()) as MethodGroup<MethodNeeds>)(needs),
  })),
});
