import { backups } from './backup.ts';
import { browserView } from './browser-view.ts';
import { browser } from './browser.ts';
import { channels } from './channels.ts';
import { config } from './config.ts';
import { cron } from './cron.ts';
import { desktop } from './desktop.ts';
import { devices } from './device.ts';
import { drawings } from './drawings.ts';
import { dreaming } from './dreaming.ts';
import { exec } from './exec.ts';
import { incognito } from './incognito.ts';
import { keys } from './keys.ts';
import { logs } from './logs.ts';
import { mcp } from './mcp.ts';
import { memory } from './memory.ts';
import { models } from './models.ts';
import { plans } from './plan.ts';
import { review } from './review.ts';
import { sessions } from './sessions.ts';
import { skills } from './skills.ts';
import { status } from './status.ts';
import { system } from './system.ts';
import { tools } from './tools.ts';
import { tts } from './tts.ts';
import { usage } from './usage.ts';
import { web } from './web.ts';
import { wiki } from './wiki.ts';
import { workspaces } from './workspace.ts';

/** All other contracts: the gateway loads them when one of them is first called or when it is idle. */
export const laterContracts = {
  ...sessions,
  ...models,
  ...config,
  ...tools,
  ...web,
  ...usage,
  ...backups,
  ...browser,
  ...browserView,
  ...tts,
  ...desktop,
  ...channels,
  ...workspaces,
  ...wiki,
  ...plans,
  ...drawings,
  ...skills,
  ...devices,
  ...keys,
  ...incognito,
  ...cron,
  ...dreaming,
  ...system,
  ...logs,
  ...status,
  ...exec,
  ...mcp,
  ...memory,
  ...review,
};
