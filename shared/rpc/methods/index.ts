import type { Contract, ParamsOf, ParsedOf, ResultOf } from '../contract.ts';
import { agents } from './agents.ts';
import { approvals } from './approvals.ts';
import { browser } from './browser.ts';
import { browserView } from './browser-view.ts';
import { backups } from './backup.ts';
import { channels } from './channels.ts';
import { chat } from './chat.ts';
import { config } from './config.ts';
import { connection } from './connection.ts';
import { devices } from './device.ts';
import { cron } from './cron.ts';
import { drawings } from './drawings.ts';
import { dreaming } from './dreaming.ts';
import { incognito } from './incognito.ts';
import { keys } from './keys.ts';
import { logs } from './logs.ts';
import { exec } from './exec.ts';
import { mcp } from './mcp.ts';
import { memory } from './memory.ts';
import { models } from './models.ts';
import { plans } from './plan.ts';
import { sessions } from './sessions.ts';
import { skills } from './skills.ts';
import { status } from './status.ts';
import { sync } from './sync.ts';
import { system } from './system.ts';
import { tools } from './tools.ts';
import { desktop } from './desktop.ts';
import { tts } from './tts.ts';
import { usage } from './usage.ts';
import { wiki } from './wiki.ts';
import { workspaces } from './workspace.ts';

/** Every method, on one screen. */
export const contracts = {
  ...connection,
  ...chat,
  ...incognito,
  ...sessions,
  ...agents,
  ...models,
  ...config,
  ...tools,
  ...usage,
  ...sync,
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
  ...cron,
  ...dreaming,
  ...system,
  ...logs,
  ...status,
  ...exec,
  ...approvals,
  ...mcp,
  ...memory,
};

export type AllContracts = typeof contracts;
export type MethodName = keyof AllContracts;
export type MethodParams<M extends MethodName> = ParamsOf<AllContracts[M]>;
export type MethodParsed<M extends MethodName> = ParsedOf<AllContracts[M]>;
export type MethodResult<M extends MethodName> = ResultOf<AllContracts[M]>;

// `contracts` keeps each method's own types; this only checks that all of them are contracts.
contracts satisfies Record<string, Contract>;
