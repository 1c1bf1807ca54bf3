import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Destination } from './sections/delivery-settings.ts';

/** The destination with an id or a name, as far as a principal may use it. Throws `INVALID_PARAMS` with the names that there are. */
export function findDestination(targets: readonly Destination[], to: string, principal: string): Destination {
  const usable = targets.filter(({ forChannels = false }) => forChannels || !principal.startsWith('channel:'));
  const name = to.trim().toLowerCase();
  const found = usable.find(({ id }) => id === to) ?? usable.find((target) => target.name.toLowerCase() === name);
  if (found) return found;
  const names = usable.map((target) => `"${target.name}"`).join(', ');
  throw new RpcError(
    'INVALID_PARAMS',
    `No destination "${to}". ${names === '' ? 'None is set up for this chat.' : `Destinations: ${names}.`}`,
  );
}
