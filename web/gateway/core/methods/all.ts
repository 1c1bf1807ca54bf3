import type { AllHandlers } from '../dispatch.ts';
import { agentMethods } from './agents.ts';
import { approvalMethods } from './approvals.ts';
import { backupMethods } from './backup.ts';
import { browserMethods } from './browser.ts';
import { channelMethods } from './channels.ts';
import { chatMethods } from './chat.ts';
import { configMethods } from './config.ts';
import { cronMethods } from './cron.ts';
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
import { sessionMethods } from './sessions.ts';
import { skillMethods } from './skills.ts';
import { statusMethods } from './status.ts';
import { syncMethods } from './sync.ts';
import { systemMethods } from './system.ts';
import { toolMethods } from './tools.ts';
import { desktopMethods } from './desktop.ts';
import { ttsMethods } from './tts.ts';
import { usageMethods } from './usage.ts';
import { wikiMethods } from './wiki.ts';
import { workspaceMethods } from './workspace.ts';

type Deps<Make extends (deps: never) => unknown> = Parameters<Make>[0];

/** What all of them ask for, together. */
export type MethodsDeps = Deps<typeof agentMethods> &
  Deps<typeof approvalMethods> &
  Deps<typeof backupMethods> &
  Deps<typeof browserMethods> &
  Deps<typeof channelMethods> &
  Deps<typeof chatMethods> &
  Deps<typeof configMethods> &
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
  Deps<typeof modelMethods> &
  Deps<typeof planMethods> &
  Deps<typeof sessionMethods> &
  Deps<typeof skillMethods> &
  Deps<typeof statusMethods> &
  Deps<typeof syncMethods> &
  Deps<typeof systemMethods> &
  Deps<typeof toolMethods> &
  Deps<typeof ttsMethods> &
  Deps<typeof desktopMethods> &
  Deps<typeof usageMethods> &
  Deps<typeof wikiMethods> &
  Deps<typeof workspaceMethods>;

/** Every method but those of the connection itself. */
export const allMethods = (deps: MethodsDeps): Omit<AllHandlers, 'health'> => ({
  ...agentMethods(deps),
  ...approvalMethods(deps),
  ...backupMethods(deps),
  ...browserMethods(deps),
  ...channelMethods(deps),
  ...chatMethods(deps),
  ...configMethods(deps),
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
  ...modelMethods(deps),
  ...planMethods(deps),
  ...sessionMethods(deps),
  ...skillMethods(deps),
  ...statusMethods(deps),
  ...syncMethods(deps),
  ...systemMethods(deps),
  ...toolMethods(deps),
  ...ttsMethods(deps),
  ...desktopMethods(deps),
  ...usageMethods(deps),
  ...wikiMethods(deps),
  ...workspaceMethods(deps),
});
