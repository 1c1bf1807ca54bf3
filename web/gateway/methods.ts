import { connectionContracts } from '#shared/rpc/methods/connection-contracts.ts';
import type { LazyMethods } from './server/dispatch.ts';
import { agentMethods } from './server/methods/agent-methods.ts';
import { approvalMethods } from './server/methods/approval-methods.ts';
import { chatMethods } from './server/methods/chat-methods.ts';
import { modelListMethods } from './server/methods/model-list-methods.ts';
import { sessionListMethods } from './server/methods/session-list-methods.ts';
import { syncMethods } from './server/methods/sync-methods.ts';
import { defineMethods, type Handlers, type MethodGroup, type Methods } from './system/methods.ts';

const connectionMethods = defineMethods(connectionContracts)(({ health }: Pick<Handlers<typeof connectionContracts>, 'health'>) => ({
  health,
}));

/** Methods of a chat page's first calls, which a gateway has from its start. */
const FIRST_METHODS = [connectionMethods, chatMethods, sessionListMethods, agentMethods, modelListMethods, syncMethods, approvalMethods];

/** All other methods by their namespaces, loaded with the first call of one. */
const LAZY_METHODS = [
  lazyMethods('backup', async () => (await import('./server/methods/backup-methods.ts')).backupMethods),
  lazyMethods('browser', async () => (await import('./server/methods/browser-methods.ts')).browserMethods),
  lazyMethods('channels', async () => (await import('./server/methods/channel-methods.ts')).channelMethods),
  lazyMethods('config secrets', async () => (await import('./server/methods/config-methods.ts')).configMethods),
  lazyMethods('cron', async () => (await import('./server/methods/cron-methods.ts')).cronMethods),
  lazyMethods('desktop', async () => (await import('./server/methods/desktop-methods.ts')).desktopMethods),
  lazyMethods('device', async () => (await import('./server/methods/device-methods.ts')).deviceMethods),
  lazyMethods('doctor system update web', async () => (await import('./server/methods/status-methods.ts')).statusMethods),
  lazyMethods('drawings', async () => (await import('./server/methods/drawing-methods.ts')).drawingMethods),
  lazyMethods('dreaming', async () => (await import('./server/methods/dreaming-methods.ts')).dreamingMethods),
  lazyMethods('exec tools', async () => (await import('./server/methods/exec-methods.ts')).execMethods),
  lazyMethods('incognito', async () => (await import('./server/methods/incognito-methods.ts')).incognitoMethods),
  lazyMethods('keys', async () => (await import('./server/methods/key-methods.ts')).keyMethods),
  lazyMethods('logs system', async () => (await import('./server/methods/log-methods.ts')).logMethods),
  lazyMethods('mcp', async () => (await import('./server/methods/mcp-methods.ts')).mcpMethods),
  lazyMethods('memory', async () => (await import('./server/methods/memory-methods.ts')).memoryMethods),
  lazyMethods('models', async () => (await import('./server/methods/model-methods.ts')).modelMethods),
  lazyMethods('plan', async () => (await import('./server/methods/plan-methods.ts')).planMethods),
  lazyMethods('review', async () => (await import('./server/methods/review-methods.ts')).reviewMethods),
  lazyMethods('sessions', async () => (await import('./server/methods/session-methods.ts')).sessionMethods),
  lazyMethods('skills', async () => (await import('./server/methods/skill-methods.ts')).skillMethods),
  lazyMethods('system', async () => (await import('./server/methods/system-methods.ts')).systemMethods),
  lazyMethods('tools', async () => (await import('./server/methods/tool-methods.ts')).toolMethods),
  lazyMethods('tts', async () => (await import('./server/methods/tts-methods.ts')).ttsMethods),
  lazyMethods('usage', async () => (await import('./server/methods/usage-methods.ts')).usageMethods),
  lazyMethods('web', async () => (await import('./server/methods/web-methods.ts')).webMethods),
  lazyMethods('wiki', async () => (await import('./server/methods/wiki-methods.ts')).wikiMethods),
  lazyMethods('workspace', async () => (await import('./server/methods/workspace-methods.ts')).workspaceMethods),
];

interface LazyGroup<Deps> {
  namespaces: readonly string[];
  load(): Promise<MethodGroup<Deps>>;
}

function lazyMethods<Deps>(namespaces: string, load: () => Promise<MethodGroup<Deps>>): LazyGroup<Deps> {
  return { namespaces: namespaces.split(' '), load };
}

type DepsOf<Group> = Group extends MethodGroup<infer Deps> ? Deps : Group extends LazyGroup<infer Deps> ? Deps : never;
type ToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void ? All : never;

/** What all methods need of the gateway. */
export type MethodNeeds = ToIntersection<DepsOf<(typeof FIRST_METHODS)[number] | (typeof LAZY_METHODS)[number]>>;

/** The gateway's methods: those that exist from the start, and those that are loaded by their first call. */
export const createMethods = (needs: MethodNeeds): { loaded: readonly Methods[]; lazy: readonly LazyMethods[] } => ({
  loaded: FIRST_METHODS.map((create) => (create as MethodGroup<MethodNeeds>)(needs)),
  lazy: LAZY_METHODS.map(({ namespaces, load }) => ({
    namespaces,
    load: async () => ((await load()) as MethodGroup<MethodNeeds>)(needs),
  })),
});
