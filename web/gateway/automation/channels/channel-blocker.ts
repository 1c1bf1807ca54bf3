import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Config } from '../../config/gateway-config.ts';
import { getStartableSpec, type StartableChannel } from '../../config/sections/channel-settings.ts';

export interface ChannelBlockerDeps {
  bridge: Pick<Bridge, 'provides'>;
  config: Pick<Config, 'getSecret' | 'getReference'>;
}

/** The secret that a channel needs; empty if it is optional and not set. */
export function getChannelToken(id: StartableChannel, { config }: Pick<ChannelBlockerDeps, 'config'>): string | undefined {
  const { token, isTokenOptional = false } = getStartableSpec(id);
  const path = `channels.${id}.${token}`;
  return config.getSecret(path) ?? (isTokenOptional && config.getReference(path) === undefined ? '' : undefined);
}

/** Why an enabled channel cannot run; undefined if it can. */
export function findBlocker(id: StartableChannel, deps: ChannelBlockerDeps): string | undefined {
  if (getStartableSpec(id).needsBridge && !deps.bridge.provides({ kind: 'egress' }))
    return 'This channel needs the bridge. Start Perch with `perch gateway run`.';
  const { token, secrets = [] } = getStartableSpec(id);
  const isMissing = (name: string): boolean =>
    name === token ? getChannelToken(id, deps) === undefined : deps.config.getSecret(`channels.${id}.${name}`) === undefined;
  const missing = [token, ...secrets].find(isMissing);
  if (missing === undefined) return undefined;
  const path = `channels.${id}.${missing}`;
  const name = deps.config.getReference(path);
  return name === undefined ? `${path} is not set.` : `${path} refers to \${${name}}, which has no value.`;
}
