import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Config } from '../../config/gateway-config.ts';
import { getStartableSpec, type StartableChannel } from '../../config/sections/channel-settings.ts';

export interface ChannelBlockerDeps {
  bridge: Pick<Bridge, 'provides'>;
  config: Pick<Config, 'getSecret' | 'getReference'>;
}

export const getChannelToken = (id: StartableChannel, { config }: Pick<ChannelBlockerDeps, 'config'>): string | undefined =>
  config.getSecret(`channels.${id}.${getStartableSpec(id).token}`);

/** Why an enabled channel cannot run; undefined if it can. */
export function findBlocker(id: StartableChannel, deps: ChannelBlockerDeps): string | undefined {
  if (getStartableSpec(id).needsBridge && !deps.bridge.provides({ kind: 'egress' }))
    return 'This channel needs the bridge. Start Perch with `perch gateway run`.';
  const { token, secrets = [] } = getStartableSpec(id);
  const path = [token, ...secrets].map((name) => `channels.${id}.${name}`).find((each) => deps.config.getSecret(each) === undefined);
  if (path === undefined) return undefined;
  const name = deps.config.getReference(path);
  return name === undefined ? `${path} is not set.` : `${path} refers to \${${name}}, which has no value.`;
}
