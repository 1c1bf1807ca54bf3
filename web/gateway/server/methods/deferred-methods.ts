import { deferredContracts } from '#shared/rpc/methods/deferred-contracts.ts';
import type { Handlers, Methods } from '../dispatch.ts';
import { backupMethods } from './backup-methods.ts';
import { browserMethods } from './browser-methods.ts';
import { channelMethods } from './channel-methods.ts';
import { configMethods } from './config-methods.ts';
import { cronMethods } from './cron-methods.ts';
import { desktopMethods } from './desktop-methods.ts';
import { deviceMethods } from './device-methods.ts';
import { drawingMethods } from './drawing-methods.ts';
import { dreamingMethods } from './dreaming-methods.ts';
import { execMethods } from './exec-methods.ts';
import { incognitoMethods } from './incognito-methods.ts';
import { keyMethods } from './key-methods.ts';
import { logMethods } from './log-methods.ts';
import { mcpMethods } from './mcp-methods.ts';
import { memoryMethods } from './memory-methods.ts';
import { modelMethods } from './model-methods.ts';
import { planMethods } from './plan-methods.ts';
import { reviewMethods } from './review-methods.ts';
import { sessionMethods } from './session-methods.ts';
import { skillMethods } from './skill-methods.ts';
import { statusMethods } from './status-methods.ts';
import { systemMethods } from './system-methods.ts';
import { toolMethods } from './tool-methods.ts';
import { ttsMethods } from './tts-methods.ts';
import { usageMethods } from './usage-methods.ts';
import { webMethods } from './web-methods.ts';
import { wikiMethods } from './wiki-methods.ts';
import { workspaceMethods } from './workspace-methods.ts';

type Deps<Make extends (deps: never) => unknown> = Parameters<Make>[0];

/** Dependencies of these methods. */
export type DeferredMethodsDeps = Deps<typeof configMethods> &
  Deps<typeof modelMethods> &
  Deps<typeof reviewMethods> &
  Deps<typeof sessionMethods> &
  Deps<typeof backupMethods> &
  Deps<typeof browserMethods> &
  Deps<typeof channelMethods> &
  Deps<typeof cronMethods> &
  Deps<typeof deviceMethods> &
  Deps<typeof drawingMethods> &
  Deps<typeof dreamingMethods> &
  Deps<typeof execMethods> &
  Deps<typeof incognitoMethods> &
  Deps<typeof keyMethods> &
  Deps<typeof logMethods> &
  Deps<typeof mcpMethods> &
  Deps<typeof memoryMethods> &
  Deps<typeof planMethods> &
  Deps<typeof skillMethods> &
  Deps<typeof statusMethods> &
  Deps<typeof systemMethods> &
  Deps<typeof toolMethods> &
  Deps<typeof ttsMethods> &
  Deps<typeof desktopMethods> &
  Deps<typeof usageMethods> &
  Deps<typeof webMethods> &
  Deps<typeof wikiMethods> &
  Deps<typeof workspaceMethods>;

/** Methods that are loaded on first use or when idle. */
export const createDeferredMethods = (deps: DeferredMethodsDeps): Methods => ({
  contracts: deferredContracts,
  handlers: {
    ...configMethods(deps),
    ...modelMethods(deps),
    ...reviewMethods(deps),
    ...sessionMethods(deps),
    ...backupMethods(deps),
    ...browserMethods(deps),
    ...channelMethods(deps),
    ...cronMethods(deps),
    ...deviceMethods(deps),
    ...drawingMethods(deps),
    ...dreamingMethods(deps),
    ...execMethods(deps),
    ...incognitoMethods(deps),
    ...keyMethods(deps),
    ...logMethods(deps),
    ...mcpMethods(deps),
    ...memoryMethods(deps),
    ...planMethods(deps),
    ...skillMethods(deps),
    ...statusMethods(deps),
    ...systemMethods(deps),
    ...toolMethods(deps),
    ...ttsMethods(deps),
    ...desktopMethods(deps),
    ...usageMethods(deps),
    ...webMethods(deps),
    ...wikiMethods(deps),
    ...workspaceMethods(deps),
  } satisfies Handlers<typeof deferredContracts>,
});
