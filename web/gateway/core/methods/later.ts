import { laterContracts } from '#shared/rpc/methods/later.ts';
import type { Handlers, Methods } from '../dispatch.ts';
import { backupMethods } from './backup.ts';
import { browserMethods } from './browser.ts';
import { channelMethods } from './channels.ts';
import { configMethods } from './config.ts';
import { cronMethods } from './cron.ts';
import { desktopMethods } from './desktop.ts';
import { deviceMethods } from './devices.ts';
import { drawingMethods } from './drawings.ts';
import { dreamingMethods } from './dreaming.ts';
import { execMethods } from './exec.ts';
import { incognitoMethods } from './incognito.ts';
import { keyMethods } from './keys.ts';
import { logMethods } from './logs.ts';
import { mcpMethods } from './mcp.ts';
import { memoryMethods } from './memory.ts';
import { modelMethods } from './models.ts';
import { planMethods } from './plan.ts';
import { reviewMethods } from './review.ts';
import { sessionMethods } from './sessions.ts';
import { skillMethods } from './skills.ts';
import { statusMethods } from './status.ts';
import { systemMethods } from './system.ts';
import { toolMethods } from './tools.ts';
import { ttsMethods } from './tts.ts';
import { usageMethods } from './usage.ts';
import { webMethods } from './web.ts';
import { wikiMethods } from './wiki.ts';
import { workspaceMethods } from './workspace.ts';

type Deps<Make extends (deps: never) => unknown> = Parameters<Make>[0];

/** Dependencies of these methods. */
export type LaterDeps = Deps<typeof configMethods> &
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
export const laterMethods = (deps: LaterDeps): Methods => ({
  contracts: laterContracts,
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
  } satisfies Handlers<typeof laterContracts>,
});
