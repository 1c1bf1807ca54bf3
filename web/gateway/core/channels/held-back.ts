import type { Bridge } from '../bridge.ts';
import type { Config } from '../config.ts';
import type { StartableChannel } from './settings.ts';

/** The secret that each channel requires. */
const TOKEN = { x: 'bearerToken', telegram: 'botToken' } as const satisfies Record<StartableChannel, string>;

export interface HeldBackDeps {
  bridge: Pick<Bridge, 'lends'>;
  config: Pick<Config, 'secret' | 'reference'>;
}

export const tokenOf = (id: StartableChannel, { config }: Pick<HeldBackDeps, 'config'>): string | undefined =>
  config.secret(`channels.${id}.${TOKEN[id]}`);

/** Why an enabled channel cannot run; undefined if it can. */
export function heldBack(id: StartableChannel, deps: HeldBackDeps): string | undefined {
  if (!deps.bridge.lends({ kind: 'egress' })) return 'This channel needs the bridge. Start Perch with `perch gateway run`.';
  if (tokenOf(id, deps) !== undefined) return undefined;
  const path = `channels.${id}.${TOKEN[id]}`;
  const name = deps.config.reference(path);
  return name === undefined ? `${path} is not set.` : `${path} refers to \${${name}}, which has no value.`;
}
